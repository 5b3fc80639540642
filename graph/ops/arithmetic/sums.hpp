// These ops add up the elements of a tensor over some of its axes, or gradients over the
// micro-batches of a window.
#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Sums x [N,C,...] over every axis but axis 1, to [C]. This is the gradient of a bias per channel.
extern const Op channel_sum;

/// Sums x [B,C,H,W,16] over every axis but axis 1, to [C]. This is the gradient of a convolution's
/// bias, in the order in which conv2d_pool_relu_lanes sums its own.
extern const Op channel_sum_lanes;

/// Sums x over what broadcasting from the attribute `shape` to the shape of x repeats, to a tensor
/// of that shape. This is the gradient of a broadcast operand.
extern const Op reduce_to;

/// Returns `gradient` summed to the shape of input i, or `gradient` itself if it has that shape.
ValueId reduced_to_input(GradientContext& context, ValueId gradient, std::size_t i);

/// Maps (sum, x), of one shape, to sum + x in the place of `sum`. With the attribute running (0 by
/// default) it computes the running mean instead: sum·k/(k+1) + x/(k+1), where k micro-batches of
/// the window are in the sum already.
extern const Op accumulate;

}  // namespace penstock::graph
