// These kernels are the convolution with lanes and its gradients. The build compiles them once per
// instruction set.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph::PENSTOCK_ISA {

void convolve(const LaneConvolution& conv, Part part, const float* x, const float* weight,
              const float* bias, float* y, float* workspace);
void convolve_input_gradient(const LaneConvolution& conv, Part part, const float* dy,
                             const float* weight, float* dx, float* workspace);
/// Computes some channels of one block of the input's gradient: dy [O,OH,OW,16] -> dx [C,H,W,16]
/// with its border.
void convolve_input_gradient_block(const LaneConvolution& conv, Part channels, std::int64_t active,
                                   const float* dy, const float* weight, float* dx);
void convolve_weight_gradient(const LaneConvolution& conv, Part part, const float* x,
                              const float* dy, float* dweight, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
