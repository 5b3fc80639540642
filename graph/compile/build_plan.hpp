// build_plan() makes a plan of a graph that is partitioned into stages. It is pure.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

struct PlanRequest {
  bool training = false;
  std::int64_t batch = 1;  ///< A micro-batch has this many samples.
  const Schedule* schedule = nullptr;
  Phases phases = {};
  /// In training, this many micro-batches lie between two updates; 0 says that the number is
  /// unknown.
  std::int64_t window = 0;
  std::int32_t threads_per_ipu = 1;
  /// If this is true, outputs may overwrite inputs that nobody needs any more.
  bool in_place = true;
  OffloadOptions offload = {};
};

/// Returns a plan, which has the memory and the instructions of every stage, the edges between
/// stages, and which stage updates which parameter. For training, `graph` has its backward nodes
/// already.
Plan build_plan(const Graph& graph, const StageAssignment& assignment, const Partition& partition,
                const PlanRequest& request);

/// Returns a list that says, for each ValueId, whether the value is a parameter for which `graph`,
/// which has its backward nodes, sums up gradients.
std::vector<bool> trained_values(const Graph& graph);

}  // namespace penstock::graph
