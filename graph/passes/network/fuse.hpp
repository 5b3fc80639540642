// This pass makes one node of neighbours that are faster as one. It is pure.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Returns the forward graph `graph` with fused nodes under the name of the first of their parts. A
/// convolution (in lanes or not) or a linear layer is fused with a relu that is its only reader; a
/// convolution in lanes also with a 2x2 max pooling that is its only reader and a relu behind that,
/// or the other way round. All parts are in one block. A checkpointed value that is not computed
/// any more makes the new node's result a checkpoint. The result depends on ops, attributes and
/// blocks alone; stages are chosen later. What an anchor asks for within such a node is computed
/// once more, by nodes of its own beside it.
Graph fuse(const Graph& graph);

}  // namespace penstock::graph
