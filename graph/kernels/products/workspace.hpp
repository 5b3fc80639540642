// The scratch memory that products need, in floats; the same for every instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/products/windows.hpp"

namespace penstock::graph {

/// A product of [rows,depth] by [depth,columns].
std::int64_t product_floats(std::int64_t rows, std::int64_t columns, std::int64_t depth) noexcept;

/// Either pass over the images, and the gradient of the weights, for which the bands differ.
std::int64_t convolve_floats(const Windows& w) noexcept;
std::int64_t weight_gradient_floats(const Windows& w) noexcept;

}  // namespace penstock::graph
