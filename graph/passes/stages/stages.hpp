// These structures are what the passes that split a graph into stages hand to each other. They are
// plain data, in which nodes and values are named by the graph's ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// Is a stage as it is asked for.
struct StageRequest {
  std::vector<std::string> blocks = {};
  std::int32_t ipu = none;  ///< Is the IPU that is asked for, or `none`.
  std::int32_t phase = none;
  /// Is the IPU if neither the host nor a block asks for one; `none` stands for the stage's number.
  std::int32_t default_ipu = none;
};

/// Is a stage as the passes have decided it.
struct StagePlacement {
  std::vector<std::string> blocks = {};
  std::int32_t ipu = 0;
  std::int32_t phase = none;
};

struct StageAssignment {
  std::vector<StagePlacement> stages = {};
  /// Has the stages, and also those that were left out because they have nothing to compute.
  std::vector<StagePlacement> placed = {};
  /// Has the stage of each block, by BlockId; `none` says that the block has no node.
  std::vector<std::int32_t> of_block = {};
  std::vector<std::string> warnings = {};

  /// Returns the stage of a node; a node of a model without blocks is in stage 0.
  std::int32_t of(const Node& node) const {
    return node.block == none ? 0 : of_block[index(node.block)];
  }
};

/// Is an edge between two stages, or from the host to a stage, before its value has a place in
/// memory.
struct StageEdge {
  EdgeKind kind = EdgeKind::order;
  std::int32_t from = host;
  std::int32_t to = host;
  ValueId value = none;  ///< Is `none` for an edge of kind `order`.
};

/// Has the part of a graph that one stage runs.
struct StageGraph {
  std::vector<NodeId> forward = {};  ///< Has the nodes in the graph's order.
  std::vector<NodeId> backward = {};
  std::vector<std::int32_t> forward_receives = {};   ///< Has positions in Partition::edges.
  std::vector<std::int32_t> forward_sends = {};      ///< Has positions in Partition::edges.
  std::vector<std::int32_t> backward_receives = {};  ///< Has positions in Partition::edges.
  std::vector<std::int32_t> backward_sends = {};     ///< Has positions in Partition::edges.
};

struct Partition {
  std::vector<StageGraph> stages = {};
  std::vector<StageEdge> edges = {};
};

}  // namespace penstock::graph
