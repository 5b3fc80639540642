// This pass makes one node of several neighbouring nodes where one node is faster. It is pure.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Returns the forward graph `graph` with fused nodes, each of which has the name of its first
/// part. A convolution (in any layout) or a linear layer is fused with a relu that is its only
/// reader. A convolution in the batch-lane layout is also fused with a 2x2 max pooling and a relu
/// that follow it in either order, if each of them is the only reader of the node before. All parts
/// are in one block. If a checkpointed value is not computed after the fusion, the fused node's
/// result becomes a checkpoint. If an anchor asks for a value inside a fused node, further nodes
/// beside the fused node compute that value. The result depends on ops, attributes and blocks
/// alone, and not on stages, which are chosen later.
Graph fuse(const Graph& graph);

}  // namespace penstock::graph
