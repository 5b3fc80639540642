// The border of a convolution's input gradient: pixels some of whose taps lie outside of the
// output's gradient. Packed products multiply the weights of those taps by zeros, which changes no
// sum of finite numbers, but gives NaN where such a weight is an infinity or a NaN.
#pragma once

#include "graph/kernels/part.hpp"
#include "graph/kernels/products/windows.hpp"

namespace penstock::graph {

/// Sums what is NaN on the border of `target` again, without those zeros. `target` holds the sums
/// that the products made of `source` and `weight` for the units `part`; no other unit's sums are
/// read or written.
void sum_borders_again(const Windows& w, Part part, const float* source, const float* weight,
                       float* target);

}  // namespace penstock::graph
