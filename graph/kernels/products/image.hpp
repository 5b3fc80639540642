// An Image is a band of a convolution's source with the zeros around it, so that no window reaches
// beyond it. The build compiles it once per instruction set.
#pragma once

#include "graph/kernels/products/bands.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Calls `work(band)` for the bands of all places, in order.
template <class Work>
[[gnu::always_inline]] inline void for_each_band(const Windows& w, Work work) {
  for (std::int64_t i = 0; i < band_count(w); ++i) work(band_at(w, i));
}

/// Returns how many pixels `places` places see along an axis, from the first pixel to the last.
inline std::int64_t seen(const WindowAxis& axis, std::int64_t places) {
  return (places - 1) * axis.step + axis.span + 1;
}

/// Says which pixels of the source are seen along an axis by the `places` places from `place` on.
struct Extent {
  std::int64_t first, count;
  std::int64_t to;  ///< Is the index of pixel `first` among all pixels that the places see.

  Extent(const WindowAxis& axis, std::int64_t place, std::int64_t places) {
    const std::int64_t low = place * axis.step + axis.low, end = low + seen(axis, places);
    first = low > 0 ? low : 0;
    count = (end < axis.size ? end : axis.size) - first;
    to = first - low;
  }
};

/// Holds planes of pixels; the window of place (0,0) begins at `data`. Within a row, pixels whose
/// distance is a step lie side by side, so that neighbouring places see neighbouring floats.
struct Image {
  const float* data;
  std::int64_t sample_pitch, plane_pitch, row_pitch;
  /// Is the distance in a row from the pixels whose position leaves remainder r, when it is divided
  /// by the step, to those that leave remainder r + 1. It is not used if the step is 1.
  std::int64_t residue_pitch;

  /// Returns the offset from the lowest pixel of place 0 to the pixel that place 0 sees through tap
  /// (row,column).
  std::int64_t tap(const Windows& w, std::int64_t row, std::int64_t column) const {
    const std::int64_t y = w.rows.first - w.rows.low + row * w.rows.tap_step;
    const std::int64_t x = w.columns.first - w.columns.low + column * w.columns.tap_step;
    const std::int64_t step = w.columns.step;
    return y * row_pitch + (step == 1 ? x : x % step * residue_pitch + x / step);
  }
};

/// Returns the channels [first, first + channels) of the band. If no window leaves the source, the
/// step is 1 and rows have whole groups of eight places, the image is the source itself. Otherwise
/// the channels are copied to `to`.
Image image_of(const Windows& w, const Band& band, std::int64_t first, std::int64_t channels,
               const float* source, float* to);

}  // namespace penstock::graph::PENSTOCK_ISA
