// Windows describe a convolution, or a part of the gradient of its input, as one matrix product of
// the weights and of the pixels that places see. This header has declarations only, because sources
// of every instruction set include it; graph/ops/convolution/products/geometry makes the Windows.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/epilogue.hpp"

namespace penstock::graph {

/// A WindowAxis has the places along one axis (height or width), and says which pixels each place
/// sees.
struct WindowAxis {
  std::int64_t size;    ///< This is the number of pixels of the source.
  std::int64_t places;  ///< This is the number of places of the target.
  std::int64_t step;    ///< This is the number of pixels from one place to the next.
  std::int64_t taps;
  /// This is the position of the pixel that place 0 sees through tap 0. It may lie outside the
  /// source, where pixels count as zero.
  std::int64_t first;
  /// This is the number of pixels from one tap to the next. In a gradient of the input, it is
  /// negative or 0.
  std::int64_t tap_step;
  std::int64_t low;  ///< This is the position of the lowest pixel that place 0 sees.
  /// This is the distance, in pixels, from the lowest to the highest pixel that place 0 sees.
  std::int64_t span;
  /// These say where the places lie in the target: place i is row or column target_first +
  /// i·target_step.
  std::int64_t target_first, target_step;
  /// These say what the taps are in the kernel: tap i is row or column weight_first +
  /// i·weight_step.
  std::int64_t weight_first, weight_step;
};

/// Windows describe the convolution target[s][r][place] = bias[r] + the sum over channels c and
/// taps of weight[r][c][tap] * source[s][c][pixel that the place sees through the tap].
struct Windows {
  std::int64_t samples;
  WindowAxis rows, columns;
  std::int64_t channels;  ///< This is the number of planes of the source, over which is summed.
  std::int64_t results;   ///< This is the number of planes of the target.
  /// These are distances in floats: in the source and in the target from one sample, plane or row
  /// to the next, and in the weights from one plane of the target, channel or row to the next.
  std::int64_t source_sample;
  std::int64_t target_sample, target_plane, target_row;
  std::int64_t weight_result, weight_channel, weight_row;
  /// These say how much is packed at a time. A band is `band_rows` rows of places of one sample, or
  /// all rows of `band_samples` samples. The products of `block_channels` channels are summed
  /// before the next channels are packed.
  std::int64_t band_samples, band_rows, block_channels;
  /// If this is true, the weights are what ProductKernels::pack_panels() has made of them.
  bool packed = false;
  Epilogue epilogue = {};  ///< This is what is done with the sums before they are written.
};

}  // namespace penstock::graph
