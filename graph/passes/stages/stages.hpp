// Stages: what the passes that split a graph hand to each other. Plain data over the graph's ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// A stage as it is asked for.
struct StageRequest {
  std::vector<std::string> blocks = {};
  std::int32_t ipu = none;  ///< none: see StagePlacement
  std::int32_t phase = none;
  std::int32_t default_ipu = none;  ///< where nobody names one; none: the stage's number
};

/// A stage as it is decided.
struct StagePlacement {
  std::vector<std::string> blocks = {};
  std::int32_t ipu = 0;
  std::int32_t phase = none;
};

struct StageAssignment {
  std::vector<StagePlacement> stages = {};
  std::vector<StagePlacement> placed = {};  ///< the same, and those that were left out
  std::vector<std::int32_t> of_block = {};  ///< by BlockId; none: the block has no node
  std::vector<std::string> warnings = {};

  /// The stage of a node; a node of a model without blocks is in stage 0.
  std::int32_t of(const Node& node) const {
    return node.block == none ? 0 : of_block[index(node.block)];
  }
};

/// An edge before anything has a place in memory.
struct StageEdge {
  EdgeKind kind = EdgeKind::order;
  std::int32_t from = host;
  std::int32_t to = host;
  ValueId value = none;  ///< none for `order`
};

/// One stage's share of a graph.
struct StageGraph {
  std::vector<NodeId> forward = {};  ///< in the graph's order
  std::vector<NodeId> backward = {};
  std::vector<std::int32_t> forward_receives = {};  ///< positions in Partition::edges
  std::vector<std::int32_t> forward_sends = {};
  std::vector<std::int32_t> backward_receives = {};
  std::vector<std::int32_t> backward_sends = {};
};

struct Partition {
  std::vector<StageGraph> stages = {};
  std::vector<StageEdge> edges = {};
};

}  // namespace penstock::graph
