// Max pooling and its gradient, one plane after the other. One thread.
#pragma once

#include "graph/kernels/pool2d/geometry.hpp"

namespace penstock::graph {

/// The maximum of each window, the first of equal ones; a NaN counts as the largest. `winners` says
/// which window position it came from: kh * kernel width + kw.
void pool_maximum(const Pool2dGeometry& pool, const float* x, float* y, float* winners);
/// Adds each dy to the pixel that won.
void pool_maximum_gradient(const Pool2dGeometry& pool, const float* winners, const float* dy,
                           float* dx);

}  // namespace penstock::graph
