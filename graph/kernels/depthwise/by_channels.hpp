// Small images are convolved by Vectors that have the same pixel of neighbouring channels, for
// which planes are transposed. The build compiles the functions once per instruction set.
#pragma once

#include "graph/kernels/depthwise/depthwise.hpp"

namespace penstock::graph::PENSTOCK_ISA {

// These functions do what those of DepthwiseKernels do, for convolutions for which
// convolves_by_channels() is true.
void convolve_by_channels(const DepthwiseConvolution&, Part, const float* x, const float* weight,
                          const float* bias, float* y, float* workspace);
void input_gradient_by_channels(const DepthwiseConvolution&, Part, const float* dy,
                                const float* weight, float* dx, float* workspace);
void weight_gradient_by_channels(const DepthwiseConvolution&, Part, const float* x, const float* dy,
                                 float* dweight, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
