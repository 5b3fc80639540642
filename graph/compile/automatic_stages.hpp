// Automatic stages: a graph is cut where its stages are balanced, by what its nodes cost. Whoever
// has a clock hands in the times.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/compile/build_plan.hpp"
#include "graph/ir/graph.hpp"
#include "graph/passes/memory/memory_budget.hpp"
#include "graph/passes/memory/recompute.hpp"
#include "graph/passes/stages/pieces.hpp"
#include "graph/plan/plan.hpp"
#include "graph/plan/schedules/simulator.hpp"

namespace penstock::graph {

/// Seconds that each instruction of a plan of one stage takes.
struct InstructionTimes {
  std::vector<double> forward = {};
  std::vector<double> backward = {};
};
using MeasureInstructions = std::function<InstructionTimes(const Plan& one_stage)>;

struct CutRequest {
  std::int32_t stages = 1;
  std::vector<std::int32_t> ipus = {};  ///< one per stage, or none
  MeasureInstructions measure = {};     ///< null: costs are estimated from FLOPs and bytes
  MemoryBudget memory = {};             ///< that each stage has to keep to
  RecomputeRequest recompute = {};
};

struct TimedCut {
  CutGraph cut = {};
  /// The seconds of each stage, where they were measured. Its backward includes what it recomputes.
  std::vector<StageCost> seconds = {};
};

/// Cuts `graph`, which has its backward nodes already, so that the slowest stage is as fast as can
/// be; where that hardly makes a difference, so that little has to travel. balance() asks back what
/// memory a run of pieces would need, for there are too many runs to work out all of them.
/// @throws Error invalid_topology if the graph has not as many pieces as there are to be stages,
/// out_of_memory if no cut into so many keeps to the memory.
TimedCut cut_automatically(const Graph& graph, const CutRequest& request, const PlanRequest& plan);

}  // namespace penstock::graph
