// The scratch memory that batch-lane kernels need, in floats.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph {

/// One block of the input with its padding; none where there is no padding.
std::int64_t padded_floats(const LaneConvolution& conv) noexcept;

/// The gradients of a convolution with pooling.
std::int64_t pool_input_gradient_floats(const LaneConvolution& conv) noexcept;
std::int64_t pool_weight_gradient_floats(const LaneConvolution& conv) noexcept;

}  // namespace penstock::graph
