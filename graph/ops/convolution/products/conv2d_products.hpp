// These functions compute a convolution and its two gradients on one thread for a part of the
// units: as matrix products, group by group, or, if each channel is convolved by itself, by kernels
// for that. The order of every sum depends on the geometry alone.
#pragma once

#include "graph/ops/convolution/products/geometry.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

/// Returns the floats of workspace that convolve() needs.
std::int64_t convolve_floats(const Conv2dGeometry& conv);
/// Returns the floats of workspace that convolve_input_gradient() needs.
std::int64_t convolve_input_gradient_floats(const Conv2dGeometry& conv);
/// Returns the floats of workspace that convolve_weight_gradient() needs.
std::int64_t convolve_weight_gradient_floats(const Conv2dGeometry& conv);

/// Returns the number of units into which threads can divide convolve().
std::int64_t convolve_units(const Conv2dGeometry& conv);
/// Returns the number of units into which threads can divide convolve_input_gradient().
std::int64_t convolve_input_gradient_units(const Conv2dGeometry& conv);
/// Returns the number of units into which threads can divide convolve_weight_gradient().
std::int64_t convolve_weight_gradient_units(const Conv2dGeometry& conv);

/// Returns whether convolve() packs all weights in one order, so that they can be packed
/// beforehand.
bool packs_weights(const Conv2dGeometry& conv);
/// Returns the shape of the packed weights of such a convolution: [groups, units, depth, results],
/// where a unit has the weights of so many results. The results of the last unit may be fewer, with
/// zeros in place of weights.
Shape packed_weights_shape(const Conv2dGeometry& conv);
/// Packs the weights in the order in which the kernels of this process's instruction set read them.
/// `part` is a part of the units of all groups.
void pack_weights(const Conv2dGeometry& conv, Part part, const float* weight, float* packed);

/// Computes y = conv(x, weight) + bias, and does with these sums what `epilogue` says. `bias` may
/// be null, which stands for zeros.
void convolve(const Conv2dGeometry& conv, Part part, const float* x, const float* weight,
              const float* bias, const Epilogue& epilogue, float* y, float* workspace);
/// Computes dx: the gradient of each output pixel, times a weight, is added to every pixel in the
/// window of the output pixel. A weight that is an infinity or a NaN changes no pixel outside of
/// the window.
void convolve_input_gradient(const Conv2dGeometry& conv, Part part, const float* dy,
                             const float* weight, float* dx, float* workspace);
/// Computes dweight, which is a sum over the samples in their order.
void convolve_weight_gradient(const Conv2dGeometry& conv, Part part, const float* x,
                              const float* dy, float* dweight, float* workspace);

}  // namespace penstock::graph
