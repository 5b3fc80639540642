// DepthwiseKernels convolve each channel of an image with a kernel of its own. They are a part of
// KernelTable. This header has declarations only, because sources of every instruction set include
// it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/epilogue.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

/// A DepthwiseConvolution has the sizes of a convolution from x [N,C,H,W] to y [N,C,OH,OW] with a
/// weight [C,1,kh,kw].
struct DepthwiseConvolution {
  std::int64_t samples, channels;
  std::int64_t height, width, out_height, out_width;
  std::int64_t kernel_height, kernel_width;
  std::int64_t stride_height, stride_width;
  std::int64_t padding_height, padding_width;
  std::int64_t dilation_height, dilation_width;
  Epilogue epilogue = {};  ///< This is what convolve() does with the sums of each channel.
};

struct DepthwiseKernels {
  // The units of convolve() and convolve_input_gradient() are planes, sample by sample, or, if
  // images are small, blocks of planes, block by block. Those of convolve_weight_gradient() are
  // channels or blocks of channels. depthwise_units() and depthwise_weight_units() count them.
  // Workspaces have as many floats as depthwise_floats(), depthwise_input_gradient_floats() and
  // depthwise_weight_gradient_floats() return.

  /// Computes `y`. `bias` [C] may be null, which stands for zeros.
  void (*convolve)(const DepthwiseConvolution&, Part, const float* x, const float* weight,
                   const float* bias, float* y, float* workspace);
  /// Computes `dx`. A weight that is an infinity or a NaN changes no pixel outside of the windows.
  void (*convolve_input_gradient)(const DepthwiseConvolution&, Part, const float* dy,
                                  const float* weight, float* dx, float* workspace);
  /// Computes `dweight`, which is a sum over the samples in their order.
  void (*convolve_weight_gradient)(const DepthwiseConvolution&, Part, const float* x,
                                   const float* dy, float* dweight, float* workspace);
};

/// Returns the number of units of DepthwiseKernels::convolve() and convolve_input_gradient().
std::int64_t depthwise_units(const DepthwiseConvolution& conv);
/// Returns the number of units of DepthwiseKernels::convolve_weight_gradient().
std::int64_t depthwise_weight_units(const DepthwiseConvolution& conv);

/// Returns the floats of workspace of DepthwiseKernels::convolve().
std::int64_t depthwise_floats(const DepthwiseConvolution& conv);
/// Returns the floats of workspace of DepthwiseKernels::convolve_input_gradient().
std::int64_t depthwise_input_gradient_floats(const DepthwiseConvolution& conv);
/// Returns the floats of workspace of DepthwiseKernels::convolve_weight_gradient().
std::int64_t depthwise_weight_gradient_floats(const DepthwiseConvolution& conv);

}  // namespace penstock::graph
