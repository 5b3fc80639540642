#include "graph/kernels/products/image.hpp"

#include "graph/kernels/products/pack.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

bool never_leaves(const WindowAxis& axis) {
  return axis.low >= 0 && axis.low + seen(axis, axis.places) <= axis.size;
}

/// One row of the source from pixel `low` on, zeros outside being there already.
void copy_row(const Windows& w, const Image& image, const float* row, float* to) {
  const WindowAxis& axis = w.columns;
  const std::int64_t count = seen(axis, axis.places);
  const std::int64_t begin = axis.low < 0 ? -axis.low : 0;
  const std::int64_t end = axis.size - axis.low < count ? axis.size - axis.low : count;
  if (axis.step == 1) return copy_floats(end - begin, row + axis.low + begin, to + begin);
  for (std::int64_t x = begin; x < end; ++x)
    to[x % axis.step * image.phase_pitch + x / axis.step] = row[axis.low + x];
}

void copy_plane(const Windows& w, const Band& band, const Image& image, const float* plane,
                float* to) {
  const std::int64_t low = band.first_row * w.rows.step + w.rows.low;
  const std::int64_t height = seen(w.rows, band.rows);
  for (std::int64_t y = 0; y < height; ++y)
    if (low + y >= 0 && low + y < w.rows.size)
      copy_row(w, image, plane + (low + y) * w.columns.size, to + y * image.row_pitch);
}

}  // namespace

Image image_of(const Windows& w, const Band& band, std::int64_t first, std::int64_t channels,
               const float* source, float* to) {
  const std::int64_t plane = w.rows.size * w.columns.size;
  source += band.first_sample * w.source_sample + first * plane;
  if (w.columns.step == 1 && w.columns.places % 8 == 0 && never_leaves(w.rows) &&
      never_leaves(w.columns)) {
    const std::int64_t row = band.first_row * w.rows.step + w.rows.low;
    return {source + row * w.columns.size + w.columns.low, w.source_sample, plane, w.columns.size,
            0};
  }
  const std::int64_t step = w.columns.step;
  const std::int64_t phase_pitch = (seen(w.columns, w.columns.places) + step - 1) / step;
  const std::int64_t row_pitch = step * phase_pitch;
  const std::int64_t plane_pitch = seen(w.rows, band.rows) * row_pitch;
  const Image image{to, channels * plane_pitch, plane_pitch, row_pitch, phase_pitch};
  const std::int64_t floats = band.samples * image.sample_pitch;
  __builtin_memset(to, 0, sizeof(float) * static_cast<std::size_t>(floats));
  for (std::int64_t sample = 0; sample < band.samples; ++sample)
    for (std::int64_t c = 0; c < channels; ++c)
      copy_plane(w, band, image, source + sample * w.source_sample + c * plane,
                 to + sample * image.sample_pitch + c * plane_pitch);
  return image;
}

}  // namespace penstock::graph::PENSTOCK_ISA
