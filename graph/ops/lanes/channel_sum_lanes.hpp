#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Sums over every axis but 1: x [B,C,H,W,16] -> [C]. The gradient of a convolution's bias, in the
/// order in which conv2d_pool_relu_lanes sums its own.
extern const Op channel_sum_lanes;

}  // namespace penstock::graph
