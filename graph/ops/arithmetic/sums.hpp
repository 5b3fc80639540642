// These ops add up the elements of a tensor over some of its axes, or gradients over the
// micro-batches of a window.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Sums x over every axis but the one that the attribute axis names, which is axis 1 by default:
/// [N,C,...] to [C]. The result is the gradient of a bias per channel if x is the gradient of the
/// output. For the bias of a linear layer, the channels are along axis -1.
extern const Op channel_sum;

/// Sums x [B,C,H,W,16] over every axis but axis 1, to [C]. The result is the gradient of a
/// convolution's bias if x is the gradient of the output. The order of the sum is that in which
/// conv2d_pool_relu_lanes_weight_gradient sums dbias.
extern const Op channel_sum_lanes;

/// Maps (sum, x), of one shape, to sum + x, which takes the memory of `sum`. If the attribute
/// running (0 by default) is 1, the op computes a running mean instead: sum·k/(k+1) + x/(k+1),
/// where `sum` is the mean of the k micro-batches of the window that came before. In the first
/// micro-batch of a window, the result is x.
extern const Op accumulate;

}  // namespace penstock::graph
