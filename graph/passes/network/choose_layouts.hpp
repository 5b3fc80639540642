// Pass: which nodes work in the batch-lane layout (graph/ops/rules/lane_shape.hpp). Pure.
#pragma once

#include <cstdint>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

struct LayoutChoice {
  Graph graph;
  std::int32_t conversions = 0;  ///< nodes that do nothing but move a tensor to another layout
  std::int32_t lane_nodes = 0;   ///< nodes in the batch-lane layout, without the conversions
};

/// The forward graph `model` with every node that Op::lane_use says so replaced by its lane form,
/// and conversions where neighbours differ, each in the block of the first node that asks for it.
/// Lane forms get the attribute `batch`, so that they may leave out lanes without a sample.
/// Depends on ops, attributes and types alone: stages are chosen later.
LayoutChoice choose_layouts(const Graph& model);

}  // namespace penstock::graph
