// Windows describe a convolution, or a part of its input gradient, as one product of weights and of
// what windows show of a stack of images. This header has declarations only, for sources of every
// instruction set include it; graph/ops/convolution/products/geometry makes the windows.
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
  /// Is the number of pixels from one tap to the next, which is not above zero in a gradient.
  std::int64_t tap_step;
  std::int64_t low;  ///< Is the lowest pixel that place 0 sees.
  /// Is the number of pixels from the lowest to the highest one that place 0 sees.
  std::int64_t span;
  std::int64_t target_first, target_step;  ///< Say where the places lie in the target.
  /// Say which rows or columns of the kernel the taps are.
  std::int64_t weight_first, weight_step;
};

/// Describes target[s][r][place] = bias[r] + sum over channels c and taps of weight[r][c][tap] *
/// source[s][c][pixel of place and tap].
struct Windows {
  std::int64_t samples;
  WindowAxis rows, columns;
  std::int64_t channels;  ///< Counts the planes of the source that are summed over.
  std::int64_t results;   ///< Counts the planes of the target.
  std::int64_t source_sample;
  std::int64_t target_sample, target_plane, target_row;
  std::int64_t weight_result, weight_channel, weight_row;
  /// Say what is packed at once: rows of one sample, or samples with all their rows; and how many
  /// channels are summed before the next are packed.
  std::int64_t band_samples, band_rows, block_channels;
  bool relu = false;  ///< Replaces results below zero by zero.
};

}  // namespace penstock::graph
