// Average pooling and its gradient, one plane after the other. One thread.
#pragma once

#include "graph/kernels/pool2d/geometry.hpp"

namespace penstock::graph {

/// The mean of each window, in which padding counts as zeros.
void pool_average(const Pool2dGeometry& pool, const float* x, float* y);
/// Adds each dy, divided by the window's cells, to every pixel that the window saw.
void pool_average_gradient(const Pool2dGeometry& pool, const float* dy, float* dx);

}  // namespace penstock::graph
