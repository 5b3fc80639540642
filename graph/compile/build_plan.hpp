// The last step of compile() leads from a partitioned graph to a plan. It is pure.
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
  std::int64_t batch = 1;  ///< Counts the samples per micro-batch.
  const Schedule* schedule = nullptr;
  Phases phases = {};
  std::int32_t threads_per_ipu = 1;
  bool in_place = true;  ///< Says whether outputs may overwrite inputs that nobody needs any more.
  OffloadOptions offload = {};
};

/// Returns a plan with the memory and the instructions of every stage, and what joins the stages.
/// For training, `graph` is differentiated.
Plan build_plan(const Graph& graph, const StageAssignment& assignment, const Partition& partition,
                const PlanRequest& request);

/// Says by ValueId whether a differentiated graph sums up a gradient of that parameter.
std::vector<bool> trained_values(const Graph& graph);

}  // namespace penstock::graph
