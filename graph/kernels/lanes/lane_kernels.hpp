// LaneKernels compute with tensors in the batch-lane layout (graph/ops/rules/lane_shape.hpp). They
// are a part of KernelTable. This header has declarations only, because sources of every
// instruction set include it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

/// A LaneConvolution has the sizes of a convolution.
struct LaneConvolution {
  /// This is the number of samples, which are in blocks of 16. Kernels skip most work on lanes
  /// without a sample, and set the lanes that they skip to zero.
  std::int64_t samples;
  std::int64_t inputs, height, width;
  std::int64_t outputs, out_height, out_width;
  std::int64_t kernel_height, kernel_width;
  std::int64_t padding_height, padding_width;
  /// Only depthwise convolutions have a stride that is not 1. It may be 2 along either axis.
  std::int64_t stride_height = 1, stride_width = 1;
  bool relu = false;  ///< If this is true, results below zero are replaced by zero.
};

struct LanePlanes {
  std::int64_t blocks, channels, height, width;
};

struct LaneKernels {
  /// Computes `lanes` [ceil(samples/16),length,16] from `x` [samples,length]. Lanes without a
  /// sample become zero.
  void (*to_lanes)(std::int64_t samples, std::int64_t length, const float* x, float* lanes);
  /// Computes `x` from `lanes`, and drops lanes without a sample.
  void (*from_lanes)(std::int64_t samples, std::int64_t length, const float* lanes, float* x);

  /// Computes `sums` [C] of `x` [B,C,H,W,16]. Each lane is summed over blocks of samples and
  /// pixels, in the order in which the gradients of a convolution are summed, and then the lanes
  /// are summed. The units are channels.
  void (*channel_sums)(const LanePlanes&, Part, const float* x, float* sums);

  // The gradients of a convolution are the same, bit by bit, whether the pooling after it is
  // computed together with it or not. Without pooling, the gradients sum over all pixels of `dy`;
  // after a pooling, only one pixel of each 2x2 square has a gradient that is not zero. Adding
  // zeros changes no sum, so that the kernels with pooling may leave out all other pixels, as long
  // as the order is the same: both sum over `dy` two rows at a time and, within these rows, square
  // after square from left to right.
  //
  // All this holds while zeros are multiplied by finite numbers only. If a factor is infinite or
  // NaN, the gradient of the input does sum over all pixels. The gradient of the weights never
  // does: there, zero times infinity makes a NaN without pooling, but not with it.

  // The convolutions number their units in this order: the first unit of every block of samples,
  // then the second unit of every block, and so on. Threads then share the blocks evenly, even if
  // the last one has few samples.

  /// Computes `y` [B,O,OH,OW,16] of B blocks of samples. `bias` may be null. The units are the rows
  /// of `y` of each block, and the workspace has padded_floats() floats.
  void (*convolve)(const LaneConvolution&, Part, const float* x, const float* weight,
                   const float* bias, float* y, float* workspace);
  /// Computes `dx` [B,C,H,W,16]. The units are the input channels of each block of samples, and the
  /// workspace has padded_floats() floats.
  void (*convolve_input_gradient)(const LaneConvolution&, Part, const float* dy,
                                  const float* weight, float* dx, float* workspace);
  /// Computes `dweight` [O,C,kh,kw]. Each lane is summed over blocks of samples and pixels, and
  /// then the lanes are summed. The units are output channels, and the workspace is a
  /// LaneWeightGradientWorkspace.
  void (*convolve_weight_gradient)(const LaneConvolution&, Part, const float* x, const float* dy,
                                   float* dweight, float* workspace);

  // The depthwise convolutions have a kernel [1,kh,kw] for each channel, as many outputs as inputs,
  // and a sample in every lane. The workspaces are those of depthwise_floats() and
  // depthwise_weight_gradient_floats().

  /// Computes `y` [B,C,OH,OW,16]. `bias` may be null. The units are the channels of each block of
  /// samples.
  void (*convolve_depthwise)(const LaneConvolution&, Part, const float* x, const float* weight,
                             const float* bias, float* y, float* workspace);
  /// Computes `dx` [B,C,H,W,16]. Each padding is less than the size of the kernel. The units are
  /// the channels of each block of samples.
  void (*convolve_depthwise_input_gradient)(const LaneConvolution&, Part, const float* dy,
                                            const float* weight, float* dx);
  /// Computes `dweight` [C,1,kh,kw]. Each lane is summed over blocks of samples and pixels, and
  /// then the lanes are summed. The units are channels.
  void (*convolve_depthwise_weight_gradient)(const LaneConvolution&, Part, const float* x,
                                             const float* dy, float* dweight, float* workspace);

  /// Computes a convolution, a max pooling of 2x2 pixels and a ReLU: `y` [B,O,OH/2,OW/2,16], where
  /// OH and OW are the sizes before the pooling, which has stride 2 and leaves out a last odd row
  /// or column. `winners` has one byte per element of `y`, which is the number of the winner, from
  /// 0 to 3 row by row, or 4 where `y` is not above zero. The units are the rows of `y` of each
  /// block of samples, and the workspace has padded_floats() floats.
  void (*convolve_pool)(const LaneConvolution&, Part, const float* x, const float* weight,
                        const float* bias, float* y, std::uint8_t* winners, float* workspace);
  /// Computes `dx` [B,C,H,W,16]. The units are the input channels of each block of samples, and the
  /// workspace is a PoolInputGradientWorkspace.
  void (*convolve_pool_input_gradient)(const LaneConvolution&, Part, const std::uint8_t* winners,
                                       const float* dy, const float* weight, float* dx,
                                       float* workspace);
  /// Computes `dweight` [O,C,kh,kw] and `dbias` [O]. The units are output channels, and the
  /// workspace is a PoolWeightGradientWorkspace.
  void (*convolve_pool_weight_gradient)(const LaneConvolution&, Part, const float* x,
                                        const std::uint8_t* winners, const float* dy,
                                        float* dweight, float* dbias, float* workspace);

  /// Computes the maximum of each window. The first of equal pixels wins, and a NaN wins over every
  /// number. `winners` has one byte per element of `y`: the position of the winner in its window,
  /// kh * kernel_width + kw.
  void (*pool_maximum)(const Pooling&, const float* x, float* y, std::uint8_t* winners);
  void (*pool_maximum_gradient)(const Pooling&, const std::uint8_t* winners, const float* dy,
                                float* dx);
};

}  // namespace penstock::graph
