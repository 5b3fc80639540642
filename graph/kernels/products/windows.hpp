// Windows describe a convolution, or a part of its input gradient, as one product of weights and of
// what windows show of a stack of images. This header has declarations only, for sources of every
// instruction set include it; graph/ops/convolution/products/windows_of makes the windows.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Places along one axis (height or width), and the pixels that each sees.
struct WindowAxis {
  std::int64_t size;    ///< pixels of the source
  std::int64_t places;  ///< of the target
  std::int64_t step;    ///< pixels from one place to the next
  std::int64_t taps;
  std::int64_t first;     ///< the pixel of place 0 and tap 0; outside the source it is zero
  std::int64_t tap_step;  ///< pixels from one tap to the next, not above zero in a gradient
  std::int64_t low;       ///< the lowest pixel of place 0
  std::int64_t span;      ///< from there to its highest pixel
  std::int64_t target_first, target_step;  ///< where the places lie in the target
  std::int64_t weight_first, weight_step;  ///< which of the kernel's rows or columns the taps are
};

/// target[s][r][place] = bias[r] + sum over channels c and taps of weight[r][c][tap] *
/// source[s][c][pixel of place and tap]
struct Windows {
  std::int64_t samples;
  WindowAxis rows, columns;
  std::int64_t channels;  ///< planes of the source that are summed over
  std::int64_t results;   ///< planes of the target
  std::int64_t source_sample;
  std::int64_t target_sample, target_plane, target_row;
  std::int64_t weight_result, weight_channel, weight_row;
  /// What is packed at once: rows of one sample, or samples with all their rows; and how many
  /// channels are summed before the next are packed.
  std::int64_t band_samples, band_rows, block_channels;
  bool relu = false;  ///< what is below zero becomes zero
};

}  // namespace penstock::graph
