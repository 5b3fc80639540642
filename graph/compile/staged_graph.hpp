// A StagedGraph is a network in the form in which its stages compute it. staged_graph() runs the
// passes that lead to this form. Plans are made of a StagedGraph.
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
  /// This is the network, with nodes that compute in the batch-lane layout where that is faster. In
  /// training, it has its backward nodes.
  Graph graph = {};
  StageAssignment assignment = {};
  Partition partition = {};
  /// These are the phases of execution. There are none unless the request asks for phased
  /// execution.
  Phases phases = {};
  /// These are the measured seconds of each automatic stage. The list is empty if nothing was
  /// measured.
  std::vector<StageCost> seconds = {};
  /// This many nodes only move a tensor to another layout.
  std::int32_t layout_conversions = 0;
  std::int32_t lane_nodes = 0;  ///< This many nodes compute in the batch-lane layout.
};

/// Runs the passes from `model` to its stages, one after the other.
/// @throws Error invalid_model, invalid_topology, or invalid_argument for an anchor, as compile()
/// does; out_of_memory if no cut into automatic stages fits into the memory.
StagedGraph staged_graph(const Graph& model, const CompileRequest& request, CompileClock& clock);

/// Returns how many IPUs `replicas` replicas use.
std::int32_t used_ipus(const StagedGraph& staged, std::int64_t replicas);

}  // namespace penstock::graph
