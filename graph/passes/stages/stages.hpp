// The passes that split a graph into stages hand these structures to each other. The structures are
// plain data, in which nodes and values are named by the graph's ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/ir/graph.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::graph {

/// A StageRequest is a stage that the host or a rule asks for.
struct StageRequest {
  std::vector<std::string> blocks = {};
  /// The stage is to be on this IPU; `none` says that the request asks for no IPU.
  std::int32_t ipu = none;
  std::int32_t phase = none;
  /// The stage is on this IPU if neither the host nor a block asks for one; `none` stands for the
  /// IPU of the stage's number.
  std::int32_t default_ipu = none;
};

/// A StagePlacement is a stage on the IPU that the passes have decided on.
struct StagePlacement {
  std::vector<std::string> blocks = {};
  std::int32_t ipu = 0;
  std::int32_t phase = none;
};

struct StageAssignment {
  std::vector<StagePlacement> stages = {};
  /// These are the stages, together with those that were left out because they have nothing to
  /// compute.
  std::vector<StagePlacement> placed = {};
  /// This has the stage of each block, by BlockId; `none` says that the block has no node.
  std::vector<std::int32_t> of_block = {};
  std::vector<std::string> warnings = {};

  /// Returns the stage of a node; a node of a model without blocks is in stage 0.
  std::int32_t of(const Node& node) const {
    return node.block == none ? 0 : of_block[index(node.block)];
  }
};

/// A StageEdge is an edge between two stages, or from the host to a stage, whose value has no place
/// in memory yet.
struct StageEdge {
  EdgeKind kind = EdgeKind::order;
  std::int32_t from = host;
  std::int32_t to = host;
  ValueId value = none;  ///< An edge of kind `order` has the value `none`.
};

/// A StageGraph is the part of a graph that one stage runs.
struct StageGraph {
  std::vector<NodeId> forward = {};  ///< The nodes are in the graph's order.
  std::vector<NodeId> backward = {};
  /// These nodes depend on the stage's variables alone, and run once for each change of them.
  std::vector<NodeId> prepare = {};
  std::vector<std::int32_t> forward_receives = {};   ///< These are positions in Partition::edges.
  std::vector<std::int32_t> forward_sends = {};      ///< These are positions in Partition::edges.
  std::vector<std::int32_t> backward_receives = {};  ///< These are positions in Partition::edges.
  std::vector<std::int32_t> backward_sends = {};     ///< These are positions in Partition::edges.
};

struct Partition {
  std::vector<StageGraph> stages = {};
  std::vector<StageEdge> edges = {};
};

}  // namespace penstock::graph
