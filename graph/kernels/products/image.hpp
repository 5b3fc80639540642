// An Image has the pixels of a convolution's source that the places of one band see, with the
// border that they see around it. The build compiles this header once per instruction set.
#pragma once

#include "graph/kernels/products/bands.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Calls `work(band)` for every band of a convolution, in order.
template <class Work>
[[gnu::always_inline]] inline void for_each_band(const Windows& w, Work work) {
  for (std::int64_t i = 0; i < band_count(w); ++i) work(band_at(w, i));
}

/// Returns how many pixels there are along `axis` from the first to the last pixel that `places`
/// neighbouring places see.
inline std::int64_t seen(const WindowAxis& axis, std::int64_t places) {
  return (places - 1) * axis.step + axis.span + 1;
}

/// An Extent is the pixels of the source, from `first` on, that the `places` places from `place` on
/// see along an axis.
struct Extent {
  std::int64_t first, count;
  /// This is the index of pixel `first` among all pixels that the places see, which may begin in
  /// the border.
  std::int64_t to;

  Extent(const WindowAxis& axis, std::int64_t place, std::int64_t places) {
    const std::int64_t low = place * axis.step + axis.low, end = low + seen(axis, places);
    first = low > 0 ? low : 0;
    count = (end < axis.size ? end : axis.size) - first;
    to = first - low;
  }
};

/// An Image has planes of pixels. `data` points to the first pixel that place (0,0) sees. If places
/// are several pixels (a step) apart, the pixels of a row that are one step apart lie side by side,
/// so that neighbouring places see neighbouring floats through the same tap.
struct Image {
  const float* data;
  std::int64_t sample_pitch, plane_pitch, row_pitch;
  /// Each row is sorted by the remainder of a pixel's position when it is divided by the step. This
  /// is the distance from the first pixel of one remainder to the first pixel of the next. It is
  /// not used if the step is 1.
  std::int64_t residue_pitch;

  /// Returns the offset from the lowest pixel that place (0,0) sees to the pixel that it sees
  /// through tap (row,column).
  std::int64_t tap(const Windows& w, std::int64_t row, std::int64_t column) const {
    const std::int64_t y = w.rows.first - w.rows.low + row * w.rows.tap_step;
    const std::int64_t x = w.columns.first - w.columns.low + column * w.columns.tap_step;
    const std::int64_t step = w.columns.step;
    return y * row_pitch + (step == 1 ? x : x % step * residue_pitch + x / step);
  }
};

/// Returns the Image of `channels` channels, from channel `first` on, of the band. If no place sees
/// the border, the step is 1 and the number of places in a row is a multiple of eight, the Image is
/// the source itself. Otherwise the pixels are copied to `to`.
Image image_of(const Windows& w, const Band& band, std::int64_t first, std::int64_t channels,
               const float* source, float* to);

}  // namespace penstock::graph::PENSTOCK_ISA
