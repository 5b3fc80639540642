// These kernels compute convolutions as matrix products whose factors are the weights and the
// pixels that places see. The pixels of only one band are put into memory as a factor at a time.
// ProductKernels says what the arguments are. The build compiles the kernels once per instruction
// set.
#pragma once

#include "graph/kernels/products/windows.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph::PENSTOCK_ISA {

void convolve(const Windows& w, Part part, const float* source, const float* weight,
              const float* bias, float* target, float* workspace);
void convolve_weight_gradient(const Windows& w, Part part, const float* source,
                              const float* target_gradient, float* weight_gradient,
                              float* workspace);

/// Computes a convolution for which convolves_directly() is true. convolve_by_samples() does so if
/// convolves_by_samples() is true, and weight_gradient_directly() computes a gradient of weights
/// for which sums_weights_directly() is true.
void convolve_directly(const Windows& w, Part part, const float* source, const float* weight,
                       const float* bias, float* target, float* workspace);
void convolve_by_samples(const Windows& w, Part part, const float* source, const float* weight,
                         const float* bias, float* target, float* workspace);
void weight_gradient_directly(const Windows& w, Part part, const float* source,
                              const float* target_gradient, float* weight_gradient,
                              float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
