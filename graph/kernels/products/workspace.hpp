// These functions say how many floats of scratch memory products need, which is the same for every
// instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/products/windows.hpp"

namespace penstock::graph {

/// Returns the floats of a product of [rows,depth] by [depth,columns].
std::int64_t product_floats(std::int64_t rows, std::int64_t columns, std::int64_t depth) noexcept;

/// Returns the floats of a convolution or its input gradient; weight_gradient_floats() returns
/// those of the weights' gradient, which has other bands.
std::int64_t convolve_floats(const Windows& w) noexcept;
std::int64_t weight_gradient_floats(const Windows& w) noexcept;

}  // namespace penstock::graph
