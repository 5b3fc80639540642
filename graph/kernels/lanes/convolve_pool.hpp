// These kernels do a convolution, its bias, a max pooling of 2x2 pixels and a ReLU in one, with
// lanes; and their gradients. The build compiles them once per instruction set.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph::PENSTOCK_ISA {

void convolve_pool(const LaneConvolution& conv, Part part, const float* x, const float* weight,
                   const float* bias, float* y, std::uint8_t* winners, float* workspace);
void convolve_pool_input_gradient(const LaneConvolution& conv, Part part,
                                  const std::uint8_t* winners, const float* dy, const float* weight,
                                  float* dx, float* workspace);
void convolve_pool_weight_gradient(const LaneConvolution& conv, Part part, const float* x,
                                   const std::uint8_t* winners, const float* dy, float* dweight,
                                   float* dbias, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
