// LaneKernels: the numeric kernels of the batch-lane layout (graph/ops/rules/lane_shape.hpp), a
// part of KernelTable. Declarations only, as sources of every instruction set include this.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/pooling.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

/// The sizes of a convolution with stride 1.
struct LaneConvolution {
  std::int64_t samples;  ///< in blocks of 16; lanes beyond them become zero, mostly uncomputed
  std::int64_t inputs, height, width;
  std::int64_t outputs, out_height, out_width;
  std::int64_t kernel_height, kernel_width;
  std::int64_t padding_height, padding_width;
  bool relu = false;  ///< what is below zero becomes zero
};

struct LanePlanes {
  std::int64_t blocks, channels, height, width;
};

struct LaneKernels {
  /// x [samples,length] -> lanes [ceil(samples/16),length,16]; padding lanes become zero.
  void (*to_lanes)(std::int64_t samples, std::int64_t length, const float* x, float* lanes);
  /// The way back; padding lanes are dropped.
  void (*from_lanes)(std::int64_t samples, std::int64_t length, const float* lanes, float* x);

  /// x [B,C,H,W,16] -> sums [C]: each lane summed over blocks and pixels, these like a
  /// convolution's gradients, then the lanes. Units: channels.
  void (*channel_sums)(const LanePlanes&, Part, const float* x, float* sums);

  // A convolution's gradients sum over the pixels of dy two rows at a time: over the first two
  // pixels of both rows, or the first of both, then the next, and so on. Of the four pixels of a
  // square that was pooled one has a gradient, and adding zeros changes no sum: pooled gradients
  // that are summed one by one give the bits of all pixels' gradients, most of which are zero. That
  // holds as long as what zeros are multiplied by is finite. The gradient of the input sums over
  // all pixels where a factor is not; that of the weights meets the pixels that won, whatever the
  // others are, so that infinity or nan times zero is nan without pooling only.

  // Convolutions compute a part of their units: the first of them in every block, then the second,
  // and so on, so that a block with few samples is shared like the others.

  /// y [B,O,OH,OW,16]; `bias` may be null. Units: each block's rows. Workspace: `padded_floats`.
  void (*convolve)(const LaneConvolution&, Part, const float* x, const float* weight,
                   const float* bias, float* y, float* workspace);
  /// dx [B,C,H,W,16]. Units: each block's input channels. Workspace: `padded_floats`.
  void (*convolve_input_gradient)(const LaneConvolution&, Part, const float* dy,
                                  const float* weight, float* dx, float* workspace);
  /// dweight [O,C,kh,kw], each lane summed over blocks and pixels, then the lanes. Units: outputs.
  /// Workspace: `padded_floats` and 16 per weight.
  void (*convolve_weight_gradient)(const LaneConvolution&, Part, const float* x, const float* dy,
                                   float* dweight, float* workspace);

  /// Convolution, max pooling of 2x2 pixels (stride 2, a last odd row or column left out) and ReLU:
  /// y [B,O,OH/2,OW/2,16], where conv tells OH and OW before the pooling; `winners`, one byte per
  /// element: which of the four pixels, row by row, or 4 where y is not above zero. Units: each
  /// block's rows of y. Workspace: `padded_floats`.
  void (*convolve_pool)(const LaneConvolution&, Part, const float* x, const float* weight,
                        const float* bias, float* y, std::uint8_t* winners, float* workspace);
  /// dx [B,C,H,W,16]. Units: each block's input channels. Workspace: `pool_input_gradient_floats`.
  void (*convolve_pool_input_gradient)(const LaneConvolution&, Part, const std::uint8_t* winners,
                                       const float* dy, const float* weight, float* dx,
                                       float* workspace);
  /// dweight [O,C,kh,kw], dbias [O]. Units: outputs. Workspace: `pool_weight_gradient_floats`.
  void (*convolve_pool_weight_gradient)(const LaneConvolution&, Part, const float* x,
                                        const std::uint8_t* winners, const float* dy,
                                        float* dweight, float* dbias, float* workspace);

  /// The first of equal pixels wins, and a NaN over every number. `winners` has one byte per
  /// element, the window position kh * kernel_width + kw.
  void (*pool_maximum)(const Pooling&, const float* x, float* y, std::uint8_t* winners);
  void (*pool_maximum_gradient)(const Pooling&, const std::uint8_t* winners, const float* dy,
                                float* dx);
};

}  // namespace penstock::graph
