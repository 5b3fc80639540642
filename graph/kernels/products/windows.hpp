// Windows describe a convolution, or a part of its input gradient, as one product: of weights, and
// of the pixels that windows show of a stack of images. This header has declarations only, because
// sources of every instruction set include it; graph/ops/convolution/products/geometry makes the
// windows.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Describes the places along one axis (height or width), and the pixels that each place sees.
struct WindowAxis {
  std::int64_t size;    ///< Counts the pixels of the source.
  std::int64_t places;  ///< Counts the places of the target.
  std::int64_t step;    ///< Is the number of pixels from one place to the next.
  std::int64_t taps;
  /// Is the position of the pixel that place 0 sees through tap 0. It may lie outside the source; a
  /// pixel there counts as zero.
  std::int64_t first;
  /// Is the number of pixels from one tap to the next. In an input gradient, it is negative or 0.
  std::int64_t tap_step;
  std::int64_t low;  ///< Is the position of the lowest pixel that place 0 sees.
  /// Is the number of pixels from the lowest to the highest pixel that place 0 sees.
  std::int64_t span;
  /// Say where the places lie in the target: place i is row or column target_first + i·target_step.
  std::int64_t target_first, target_step;
  /// Say what the taps are in the kernel: tap i is row or column weight_first + i·weight_step.
  std::int64_t weight_first, weight_step;
};

/// Describes target[s][r][place] = bias[r] + sum over channels c and taps of weight[r][c][tap] *
/// source[s][c][pixel of place and tap].
struct Windows {
  std::int64_t samples;
  WindowAxis rows, columns;
  std::int64_t channels;  ///< Counts the planes of the source that are summed over.
  std::int64_t results;   ///< Counts the planes of the target.
  /// Are distances in floats: in the source and the target from one sample, plane or row to the
  /// next, and in the weights from one result, channel or row to the next.
  std::int64_t source_sample;
  std::int64_t target_sample, target_plane, target_row;
  std::int64_t weight_result, weight_channel, weight_row;
  /// Say how much is packed at a time: band_rows rows of one sample, or all rows of band_samples
  /// samples; and block_channels channels, which are summed before the next ones are packed.
  std::int64_t band_samples, band_rows, block_channels;
  bool relu = false;  ///< Replaces results below zero by zero.
};

}  // namespace penstock::graph
