// These kernels compute a convolution in the batch-lane layout and its gradients. Those with "pool"
// in their names compute the convolution together with a max pooling of 2x2 pixels and a ReLU.
// LaneKernels says what their arguments are. The build compiles them once per instruction set.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph::PENSTOCK_ISA {

void convolve(const LaneConvolution& conv, Part part, const float* x, const float* weight,
              const float* bias, float* y, float* workspace);
void convolve_input_gradient(const LaneConvolution& conv, Part part, const float* dy,
                             const float* weight, float* dx, float* workspace);
/// Computes some channels of `dx` [C,H,W,16], with its border, from `dy` [O,OH,OW,16], for one
/// block of samples. The first `active` lanes of the block hold samples.
void convolve_input_gradient_block(const LaneConvolution& conv, Part channels, std::int64_t active,
                                   const float* dy, const float* weight, float* dx);
void convolve_weight_gradient(const LaneConvolution& conv, Part part, const float* x,
                              const float* dy, float* dweight, float* workspace);

void convolve_depthwise(const LaneConvolution& conv, Part part, const float* x, const float* weight,
                        const float* bias, float* y, float* workspace);
void convolve_depthwise_input_gradient(const LaneConvolution& conv, Part part, const float* dy,
                                       const float* weight, float* dx);
void convolve_depthwise_weight_gradient(const LaneConvolution& conv, Part part, const float* x,
                                        const float* dy, float* dweight, float* workspace);

void convolve_pool(const LaneConvolution& conv, Part part, const float* x, const float* weight,
                   const float* bias, float* y, std::uint8_t* winners, float* workspace);
void convolve_pool_input_gradient(const LaneConvolution& conv, Part part,
                                  const std::uint8_t* winners, const float* dy, const float* weight,
                                  float* dx, float* workspace);
void convolve_pool_weight_gradient(const LaneConvolution& conv, Part part, const float* x,
                                   const std::uint8_t* winners, const float* dy, float* dweight,
                                   float* dbias, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
