#include "graph/kernels/products/image.hpp"

#include "graph/kernels/products/pack.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

bool never_leaves(const WindowAxis& axis) {
  return axis.low >= 0 && axis.low + seen(axis, axis.places) <= axis.size;
}

/// Copies `rows` rows of `floats` floats. The length is a constant of the compiler, which makes the
/// copy faster.
template <int floats>
void copy_rows(std::int64_t rows, const float* from, std::int64_t pitch, Packed to) {
  for (std::int64_t y = 0; y < rows; ++y, from += pitch, to.data += to.pitch)
    __builtin_memcpy(to.data, from, sizeof(float) * floats);
}

/// Copies `rows` rows of `count` floats.
void copy_rows(std::int64_t count, std::int64_t rows, const float* from, std::int64_t pitch,
               Packed to) {
  if (count == 8) return copy_rows<8>(rows, from, pitch, to);
  if (count == 16) return copy_rows<16>(rows, from, pitch, to);
  for (std::int64_t y = 0; y < rows; ++y, from += pitch, to.data += to.pitch)
    copy_floats(count, from, to.data);
}

/// Copies a plane of the source into an Image `to` that holds zeros.
void copy_plane(const Windows& w, const Image& image, const Extent& rows, const Extent& columns,
                const float* plane, float* to) {
  const std::int64_t width = w.columns.size, step = w.columns.step;
  const float* const from = plane + rows.first * width + columns.first;
  to += rows.to * image.row_pitch;
  if (step == 1)
    return copy_rows(columns.count, rows.count, from, width, {to + columns.to, image.row_pitch});
  for (std::int64_t y = 0; y < rows.count; ++y)
    for (std::int64_t x = 0; x < columns.count; ++x) {
      const std::int64_t at = columns.to + x;
      to[y * image.row_pitch + at % step * image.residue_pitch + at / step] = from[y * width + x];
    }
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
  const std::int64_t residue_pitch = (seen(w.columns, w.columns.places) + step - 1) / step;
  const std::int64_t row_pitch = step * residue_pitch;
  const std::int64_t plane_pitch = seen(w.rows, band.rows) * row_pitch;
  const Image image{to, channels * plane_pitch, plane_pitch, row_pitch, residue_pitch};
  const std::int64_t floats = band.samples * image.sample_pitch;
  __builtin_memset(to, 0, sizeof(float) * static_cast<std::size_t>(floats));
  const Extent rows(w.rows, band.first_row, band.rows), columns(w.columns, 0, w.columns.places);
  for (std::int64_t sample = 0; sample < band.samples; ++sample)
    for (std::int64_t c = 0; c < channels; ++c)
      copy_plane(w, image, rows, columns, source + sample * w.source_sample + c * plane,
                 to + sample * image.sample_pitch + c * plane_pitch);
  return image;
}

}  // namespace penstock::graph::PENSTOCK_ISA
