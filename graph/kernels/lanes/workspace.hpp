// Which batch-lane kernels this process uses, and what they need.
#pragma once

#include "graph/kernels/isa.hpp"
#include "graph/kernels/lanes/table.hpp"

namespace penstock::graph {

/// The kernels for `isa`, which the machine must have.
const LaneKernels& lane_kernels(Isa isa);
/// The kernels that this process uses. @throws as isa().
const LaneKernels& lane_kernels();

/// Floats that hold one block of the input with its padding; none where there is no padding.
std::int64_t padded_floats(const LaneConvolution& conv) noexcept;

/// The scratch of the gradients of a convolution with pooling, in floats.
std::int64_t pool_input_gradient_floats(const LaneConvolution& conv) noexcept;
std::int64_t pool_weight_gradient_floats(const LaneConvolution& conv) noexcept;

}  // namespace penstock::graph
