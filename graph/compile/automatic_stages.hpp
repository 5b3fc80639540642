// Automatic stages cut a graph where its stages are balanced, by what its nodes cost. Whoever has a
// clock hands in the times.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/compile/build_plan.hpp"
#include "graph/ir/graph.hpp"
#include "graph/passes/memory/memory_budget.hpp"
#include "graph/passes/memory/recompute.hpp"
#include "graph/passes/stages/atoms.hpp"
#include "graph/plan/plan.hpp"
#include "graph/plan/schedules/simulator.hpp"

namespace penstock::graph {

/// Has the seconds that each instruction of a plan of one stage takes.
struct InstructionTimes {
  std::vector<double> forward = {};
  std::vector<double> backward = {};
};
using MeasureInstructions = std::function<InstructionTimes(const Plan& one_stage)>;

struct CutRequest {
  std::int32_t stages = 1;
  std::vector<std::int32_t> ipus = {};  ///< Has one IPU per stage, or none.
  MeasureInstructions measure = {};  ///< If it is null, costs are estimated from FLOPs and bytes.
  MemoryBudget memory = {};          ///< Is the memory to which each stage has to keep.
  RecomputeRequest recompute = {};
};

struct TimedCut {
  CutGraph cut = {};
  /// Has the seconds of each stage if they were measured. Those of its backward include what it
  /// recomputes.
  std::vector<StageCost> seconds = {};
};

/// Cuts `graph`, which has its backward nodes already, so that the slowest stage is as fast as can
/// be and, where that hardly makes a difference, little has to travel. balance() asks back what
/// memory a run of atoms would need, as there are too many runs to compute all of them.
/// @throws Error invalid_topology if the graph has fewer atoms than there are to be stages;
/// out_of_memory if no cut into so many stages keeps to the memory.
TimedCut cut_automatically(const Graph& graph, const CutRequest& request, const PlanRequest& plan);

}  // namespace penstock::graph
