#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Sums x [B,C,H,W,16] over every axis but axis 1, to [C]. This is the gradient of a convolution's
/// bias, in the order in which conv2d_pool_relu_lanes sums its own.
extern const Op channel_sum_lanes;

}  // namespace penstock::graph
