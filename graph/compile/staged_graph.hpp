// StagedGraph: a network in the form in which its stages compute it. Plans are made of it.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/compile/compile_clock.hpp"
#include "graph/compile/compile_request.hpp"
#include "graph/ir/graph.hpp"
#include "graph/passes/stages/stages.hpp"
#include "graph/plan/phases/phases.hpp"
#include "graph/plan/schedules/simulator.hpp"

namespace penstock::graph {

struct StagedGraph {
  Graph graph = {};  ///< in batch lanes where that is faster, and with its gradients in training
  StageAssignment assignment = {};
  Partition partition = {};
  Phases phases = {};                   ///< of execution; none unless they are asked for
  std::vector<StageCost> seconds = {};  ///< of each automatic stage, where they were measured
  std::int32_t layout_conversions = 0;  ///< nodes that only move a tensor to another layout
  std::int32_t lane_nodes = 0;          ///< nodes that compute in batch lanes
};

/// Runs the passes from `model` to its stages, one after the other.
/// @throws Error as compile(), but for those of memory and of the schedule.
StagedGraph staged_graph(const Graph& model, const CompileRequest& request, CompileClock& clock);

/// Returns how many IPUs so many replicas use.
std::int32_t used_ipus(const StagedGraph& staged, std::int64_t replicas);

}  // namespace penstock::graph
