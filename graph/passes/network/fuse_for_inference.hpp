// This pass lets convolutions finish their sums in inference: it makes one node of a convolution
// and of the norm, the addition and the clamp that follow it. It is pure.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Returns the graph `graph`, which is not for training, with a node of conv2d_inference for each
/// convolution that a norm of running statistics, the addition of a tensor of the same shape, relu
/// or hardtanh follows, or several of them in this order. Each of them is the only reader of the
/// node before and is in the same block, so that a value that an output or an anchor asks for
/// stays. The new node stands where the last of its parts was, and has the name of the convolution.
/// Nobody reads the other parts any more, and prune() removes them. No bit changes.
Graph fuse_for_inference(Graph graph);

}  // namespace penstock::graph
