// These functions describe a convolution and its gradients as the kernels take them, by the pixels
// that each place sees.
#pragma once

#include <vector>

#include "graph/kernels/products/windows.hpp"
#include "graph/ops/convolution/products/geometry.hpp"

namespace penstock::graph {

/// Returns the windows from one group of x to one group of y.
Windows forward_windows(const Conv2dGeometry& conv);
/// Returns the same places in the smaller bands by which the gradient of the weights is summed.
Windows weight_gradient_windows(const Conv2dGeometry& conv);
/// Returns the windows from one group of dy to one group of dx. Pixels of dx that are a stride
/// apart are seen by the same taps of the kernel: each part is a convolution of its own with those
/// taps, the last of which sees the first pixel. Together the parts write every pixel of dx.
std::vector<Windows> input_gradient_windows(const Conv2dGeometry& conv);

}  // namespace penstock::graph
