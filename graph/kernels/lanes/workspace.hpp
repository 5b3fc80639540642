// These functions say how many floats of scratch memory the batch-lane kernels need.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph {

/// Returns the floats of one block of the input with its padding, or 0 if there is no padding.
std::int64_t padded_floats(const LaneConvolution& conv) noexcept;

/// Returns the floats that the gradients of a convolution with pooling need.
std::int64_t pool_input_gradient_floats(const LaneConvolution& conv) noexcept;
std::int64_t pool_weight_gradient_floats(const LaneConvolution& conv) noexcept;

}  // namespace penstock::graph
