// These passes make one node of several neighbouring nodes where no bit changes: what follows a
// convolution or a norm is done while its result is in a cache. They are pure.
#pragma once

#include "graph/ir/graph.hpp"

namespace penstock::graph {

/// Returns the graph `graph`, which is not for training, with a node of conv2d_inference for each
/// convolution that a norm of running statistics, the addition of a tensor of the same shape, relu
/// or hardtanh follows, or several of them in this order. Each of them is the only reader of the
/// node before and is in the same block, so that a value that an output or an anchor asks for
/// stays. The new node stands where the last of its parts was, and has the name of the convolution.
Graph fuse_for_inference(Graph graph);

/// Returns the graph `graph`, which is for training and has no backward nodes yet, with one node
/// for each norm of batch statistics and the addition and the clamp that follow it, under the same
/// conditions. Besides, no node between two parts reads an input of the first part, because
/// gradients would then be added in another order. If a checkpointed value is not computed any
/// more, the result of the new node becomes a checkpoint.
Graph fuse_for_training(Graph graph);

}  // namespace penstock::graph
