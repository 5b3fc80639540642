// A band of a convolution's source with the zeros around it, so that every window is whole.
// Compiled once per instruction set.
#pragma once

#include "graph/kernels/products/bands.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Calls `work(band)` for all places, in order.
template <class Work>
[[gnu::always_inline]] inline void for_each_band(const Windows& w, Work work) {
  for (std::int64_t i = 0; i < band_count(w); ++i) work(band_at(w, i));
}

/// Pixels that `places` places see along an axis, from the first of them to the last.
inline std::int64_t seen(const WindowAxis& axis, std::int64_t places) {
  return (places - 1) * axis.step + axis.span + 1;
}

/// How much of an axis `places` places from `place` on see of the source.
struct Extent {
  std::int64_t first, count;
  std::int64_t to;  ///< where the first of them is among all that the places see

  Extent(const WindowAxis& axis, std::int64_t place, std::int64_t places) {
    const std::int64_t low = place * axis.step + axis.low, end = low + seen(axis, places);
    first = low > 0 ? low : 0;
    count = (end < axis.size ? end : axis.size) - first;
    to = first - low;
  }
};

/// Planes of pixels of which the window of place (0,0) begins at `data`. In a row, pixels that are
/// a step apart lie side by side, so that neighbouring places see neighbouring floats.
struct Image {
  const float* data;
  std::int64_t sample_pitch, plane_pitch, row_pitch, phase_pitch;

  /// From place 0 and the lowest pixel to what tap (row,column) of it shows.
  std::int64_t tap(const Windows& w, std::int64_t row, std::int64_t column) const {
    const std::int64_t y = w.rows.first - w.rows.low + row * w.rows.tap_step;
    const std::int64_t x = w.columns.first - w.columns.low + column * w.columns.tap_step;
    const std::int64_t step = w.columns.step;
    return y * row_pitch + (step == 1 ? x : x % step * phase_pitch + x / step);
  }
};

/// Channels [first, first + channels) of the band; a copy in `to`, unless windows never leave the
/// source and copies of eight places never the rows.
Image image_of(const Windows& w, const Band& band, std::int64_t first, std::int64_t channels,
               const float* source, float* to);

}  // namespace penstock::graph::PENSTOCK_ISA
