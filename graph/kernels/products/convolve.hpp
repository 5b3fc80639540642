// Convolutions as matrix products of which only a band of one factor is ever in memory. Compiled
// once per instruction set; see ProductKernels.
#pragma once

#include "graph/kernels/products/windows.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph::PENSTOCK_ISA {

void convolve(const Windows& w, Part part, const float* source, const float* weight,
              const float* bias, float* target, float* workspace);
void convolve_weight_gradient(const Windows& w, Part part, const float* source,
                              const float* target_gradient, float* weight_gradient,
                              float* workspace);

/// The same for windows of which `convolves_directly` or `sums_weights_directly` says so.
void convolve_directly(const Windows& w, Part part, const float* source, const float* weight,
                       const float* bias, float* target, float* workspace);
void weight_gradient_directly(const Windows& w, Part part, const float* source,
                              const float* target_gradient, float* weight_gradient,
                              float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
