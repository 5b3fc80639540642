// The gradient of a convolution's input for weights that are not all finite. Products multiply
// weights by the zeros around dy as well, which changes no sum of finite numbers, but gives NaN
// where a weight is an infinity or a NaN. This is slower and multiplies nothing else than what a
// pixel of dy has met.
#pragma once

#include "graph/kernels/conv2d/geometry.hpp"

namespace penstock::graph {

/// Returns whether no weight of the convolution is an infinity or a NaN.
bool has_finite_weights(const Conv2dGeometry& conv, const float* weight);

/// Writes all of dx: what each pixel of dy sends back to the pixels that it saw.
void send_back_pixel_by_pixel(const Conv2dGeometry& conv, const float* dy, const float* weight,
                              float* dx);

}  // namespace penstock::graph
