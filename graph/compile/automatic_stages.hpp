// cut_automatically() cuts a graph into stages that are balanced by what its nodes cost. If the
// costs are to be measured times, the caller hands in the function that measures them.
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

/// InstructionTimes are the seconds that each instruction of a plan of one stage takes.
struct InstructionTimes {
  std::vector<double> forward = {};
  std::vector<double> backward = {};
};
using MeasureInstructions = std::function<InstructionTimes(const Plan& one_stage)>;

struct CutRequest {
  std::int32_t stages = 1;
  /// These are the IPUs of the stages. If the list is empty, each stage is on the IPU of its own
  /// number.
  std::vector<std::int32_t> ipus = {};
  MeasureInstructions measure = {};  ///< If this is null, costs are estimated from FLOPs and bytes.
  MemoryBudget memory = {};          ///< No stage may need more memory than this.
  RecomputeRequest recompute = {};
  /// If this is true, what depends on weights alone is computed before the forward, and costs
  /// nothing there.
  bool prepare = false;
};

struct TimedCut {
  CutGraph cut = {};
  /// These are the seconds of each stage, or nothing if none were measured. The seconds of a
  /// backward include what the stage recomputes.
  std::vector<StageCost> seconds = {};
};

/// Cuts `graph`, which for training has its backward nodes already, so that the slowest stage is as
/// fast as possible. If several cuts are nearly equal in that, takes the one with the fewest bytes
/// that travel between stages. The memory of a stage is computed only when balance() asks for it,
/// because there are too many possible stages to compute the memory of all.
/// @throws Error invalid_topology if `request.ipus` has a wrong number of IPUs or, in training, if
/// the graph has fewer atoms than there are to be stages; out_of_memory if no cut into so many
/// stages fits into the memory.
TimedCut cut_automatically(const Graph& graph, const CutRequest& request, const PlanRequest& plan);

}  // namespace penstock::graph
