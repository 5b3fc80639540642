// This pass says which nodes work in the batch-lane layout (graph/ops/rules/lane_shape.hpp). It is
// pure.
#pragma once

#include <cstdint>

#include "graph/ir/graph.hpp"

namespace penstock::graph {

struct LayoutChoice {
  Graph graph;
  /// This many nodes do nothing but move a tensor to another layout.
  std::int32_t conversions = 0;
  /// This many nodes work in the batch-lane layout, without the conversions.
  std::int32_t lane_nodes = 0;
};

/// Returns the forward graph `model`, in which every node that Op::lane_use wants in the batch-lane
/// layout is replaced by its form in that layout. Conversions are put between neighbours whose
/// layouts differ, each in the block of the first node that asks for it. Nodes in the batch-lane
/// layout get the number of samples as the attribute `batch`, so that they may leave out lanes
/// without a sample. The result depends on ops, attributes and types alone, and not on stages,
/// which are chosen later. `training` says whether the model is trained.
LayoutChoice choose_layouts(const Graph& model, bool training);

}  // namespace penstock::graph
