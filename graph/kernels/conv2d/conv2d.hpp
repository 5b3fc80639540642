// Convolution and its two gradients as matrix products over unfolded samples, a few samples per
// product. One thread; the order of every sum depends on the geometry alone.
#pragma once

#include <cstddef>
#include <span>

#include "graph/kernels/conv2d/geometry.hpp"

namespace penstock::graph {

/// Scratch bytes that each of the three needs.
std::int64_t convolve_workspace(const Conv2dGeometry& conv);

/// y = conv(x, weight) + bias; `bias` may be null.
void convolve(const Conv2dGeometry& conv, const float* x, const float* weight, const float* bias,
              float* y, std::span<std::byte> workspace);
/// dx: what each output pixel sends back to the pixels that it saw.
void convolve_input_gradient(const Conv2dGeometry& conv, const float* dy, const float* weight,
                             float* dx, std::span<std::byte> workspace);
/// dweight, summed over the samples in order.
void convolve_weight_gradient(const Conv2dGeometry& conv, const float* x, const float* dy,
                              float* dweight, std::span<std::byte> workspace);

}  // namespace penstock::graph
