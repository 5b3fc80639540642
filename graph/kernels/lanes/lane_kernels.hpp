// LaneKernels are the numeric kernels of the batch-lane layout (graph/ops/rules/lane_shape.hpp), a
// part of KernelTable. This header has declarations only, because sources of every instruction set
// include it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

/// Holds the sizes of a convolution with stride 1.
struct LaneConvolution {
  /// Counts the samples, which are in blocks of 16. Kernels skip most work on lanes without a
  /// sample, and set the lanes that they skip to zero.
  std::int64_t samples;
  std::int64_t inputs, height, width;
  std::int64_t outputs, out_height, out_width;
  std::int64_t kernel_height, kernel_width;
  std::int64_t padding_height, padding_width;
  bool relu = false;  ///< Replaces results below zero by zero.
};

struct LanePlanes {
  std::int64_t blocks, channels, height, width;
};

struct LaneKernels {
  /// Computes lanes [ceil(samples/16),length,16] from x [samples,length]; padding lanes become
  /// zero.
  void (*to_lanes)(std::int64_t samples, std::int64_t length, const float* x, float* lanes);
  /// Computes x from lanes; padding lanes are dropped.
  void (*from_lanes)(std::int64_t samples, std::int64_t length, const float* lanes, float* x);

  /// Computes sums [C] of x [B,C,H,W,16]: each lane is summed over blocks and pixels, in the order
  /// of a convolution's gradients, and then the lanes are summed. The units are channels.
  void (*channel_sums)(const LanePlanes&, Part, const float* x, float* sums);

  // The gradients of a convolution sum over the pixels of dy two rows at a time: over the first two
  // pixels of both rows, or the first pixel of each, then the next ones, and so on. If dy was
  // pooled, one of the four pixels of a square has a gradient. Adding zeros changes no sum, so
  // pooled gradients that are summed one by one give the same bits as the gradients of all pixels,
  // most of which are zero. That holds as long as zeros are multiplied by finite numbers. If a
  // factor is not finite, the gradient of the input sums over all pixels. The gradient of the
  // weights always meets the winning pixels only, so there infinity or nan times zero makes a nan
  // only where nothing is pooled.

  // Convolutions number their units in this order: the first unit of every block, then the second
  // unit of every block, and so on. Threads then share the blocks evenly, even if one block has few
  // samples.

  /// Computes y [B,O,OH,OW,16] of B blocks of 16 samples; `bias` may be null. The units are each
  /// block's rows of y, and the workspace has padded_floats() floats.
  void (*convolve)(const LaneConvolution&, Part, const float* x, const float* weight,
                   const float* bias, float* y, float* workspace);
  /// Computes dx [B,C,H,W,16]. The units are each block's input channels, and the workspace has
  /// padded_floats() floats.
  void (*convolve_input_gradient)(const LaneConvolution&, Part, const float* dy,
                                  const float* weight, float* dx, float* workspace);
  /// Computes dweight [O,C,kh,kw]: each lane is summed over blocks and pixels, and then the lanes
  /// are summed. The units are outputs, and the workspace is a LaneWeightGradientWorkspace.
  void (*convolve_weight_gradient)(const LaneConvolution&, Part, const float* x, const float* dy,
                                   float* dweight, float* workspace);

  /// Computes a convolution, a max pooling of 2x2 pixels (stride 2; a last odd row or column is
  /// left out) and a ReLU: y [B,O,OH/2,OW/2,16], where OH and OW are the sizes before the pooling.
  /// `winners` has one byte per element of y, which says which of the four pixels won, row by row,
  /// or is 4 where y is not above zero. The units are each block's rows of y, and the workspace has
  /// padded_floats() floats.
  void (*convolve_pool)(const LaneConvolution&, Part, const float* x, const float* weight,
                        const float* bias, float* y, std::uint8_t* winners, float* workspace);
  /// Computes dx [B,C,H,W,16]. The units are each block's input channels, and the workspace is
  /// a PoolInputGradientWorkspace.
  void (*convolve_pool_input_gradient)(const LaneConvolution&, Part, const std::uint8_t* winners,
                                       const float* dy, const float* weight, float* dx,
                                       float* workspace);
  /// Computes dweight [O,C,kh,kw] and dbias [O]. The units are outputs, and the workspace is a
  /// PoolWeightGradientWorkspace.
  void (*convolve_pool_weight_gradient)(const LaneConvolution&, Part, const float* x,
                                        const std::uint8_t* winners, const float* dy,
                                        float* dweight, float* dbias, float* workspace);

  /// Computes the maximum of each window. The first of equal pixels wins, and a NaN wins over every
  /// number. `winners` has one byte per element of y, the window position kh * kernel_width + kw.
  void (*pool_maximum)(const Pooling&, const float* x, float* y, std::uint8_t* winners);
  void (*pool_maximum_gradient)(const Pooling&, const std::uint8_t* winners, const float* dy,
                                float* dx);
};

}  // namespace penstock::graph
