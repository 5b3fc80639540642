// These kernels compute convolutions as matrix products. Only a band of the factor that consists of
// pixels is in memory at a time. The build compiles the kernels once per instruction set; see
// ProductKernels.
#pragma once

#include "graph/kernels/products/windows.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph::PENSTOCK_ISA {

void convolve(const Windows& w, Part part, const float* source, const float* weight,
              const float* bias, float* target, float* workspace);
void convolve_weight_gradient(const Windows& w, Part part, const float* source,
                              const float* target_gradient, float* weight_gradient,
                              float* workspace);

/// Computes the convolution for windows for which convolves_directly() is true.
/// weight_gradient_directly() is for windows for which sums_weights_directly() is true.
void convolve_directly(const Windows& w, Part part, const float* source, const float* weight,
                       const float* bias, float* target, float* workspace);
void weight_gradient_directly(const Windows& w, Part part, const float* source,
                              const float* target_gradient, float* weight_gradient,
                              float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
