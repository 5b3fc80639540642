#include "graph/kernels/conv2d/unfold.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace penstock::graph {
namespace {

/// Calls `work` with the widest chunk, as a constant, that a row of `width` holds. Rows are short:
/// loops over chunks of a fixed size cost a third of calls to memcpy.
template <class Work>
void with_chunk(std::int64_t width, Work work) {
  if (width >= 16)
    work(std::integral_constant<std::int64_t, 16>());
  else if (width >= 8)
    work(std::integral_constant<std::int64_t, 8>());
  else if (width >= 4)
    work(std::integral_constant<std::int64_t, 4>());
  else
    work(std::integral_constant<std::int64_t, 1>());
}

/// What one window position shows of one plane: rows of pixels, `pixel_step` apart, that go to or
/// come from rows of cells side by side.
struct Band {
  std::int64_t pixels;  ///< offset in the plane
  std::int64_t pixel_pitch, pixel_step;
  std::int64_t cells;  ///< offset in the plane's cells
  std::int64_t cell_pitch;
  std::int64_t rows, width;
};

/// The part of the output, [rows) x [columns), for which window position (kh,kw) is inside the
/// input.
struct Tap {
  std::int64_t kh, kw;
  Range rows, columns;
};

Tap tap(const Conv2dGeometry& conv, std::int64_t kh, std::int64_t kw) {
  return {kh, kw, inside(conv.window, 0, kh, conv.h, conv.oh),
          inside(conv.window, 1, kw, conv.w, conv.ow)};
}

Band band(const Conv2dGeometry& conv, const Tap& tap) {
  const Window2d& window = conv.window;
  return {.pixels = window.position(0, tap.rows.begin, tap.kh) * conv.w +
                    window.position(1, tap.columns.begin, tap.kw),
          .pixel_pitch = window.stride[0] * conv.w,
          .pixel_step = window.stride[1],
          .cells = tap.rows.begin * conv.ow + tap.columns.begin,
          .cell_pitch = conv.ow,
          .rows = tap.rows.end - tap.rows.begin,
          .width = tap.columns.end - tap.columns.begin};
}

/// The last chunk of a row overlaps the one before it.
template <class Chunk>
void copy_rows(const Band& band, const float* pixels, float* cells, Chunk chunk) {
  for (std::int64_t row = 0; row < band.rows; ++row) {
    for (std::int64_t i = 0; i + chunk < band.width; i += chunk)
      std::memcpy(cells + i, pixels + i, chunk * sizeof(float));
    const std::int64_t last = band.width - chunk;
    std::memcpy(cells + last, pixels + last, chunk * sizeof(float));
    pixels += band.pixel_pitch;
    cells += band.cell_pitch;
  }
}

/// Chunks of this size, then smaller ones for what is left.
template <std::int64_t chunk>
void add_row(const float* __restrict cells, float* __restrict pixels, std::int64_t width) {
  std::int64_t i = 0;
  for (; i + chunk <= width; i += chunk)
    for (std::int64_t lane = 0; lane < chunk; ++lane) pixels[i + lane] += cells[i + lane];
  if constexpr (chunk > 1)
    if (i < width) add_row<chunk / 2>(cells + i, pixels + i, width - i);
}

template <class Chunk>
void add_rows(const Band& band, const float* cells, float* pixels, Chunk chunk) {
  for (std::int64_t row = 0; row < band.rows; ++row) {
    add_row<chunk>(cells, pixels, band.width);
    pixels += band.pixel_pitch;
    cells += band.cell_pitch;
  }
}

void copy_band(const Band& band, const float* plane, float* plane_cells) {
  const float* pixels = plane + band.pixels;
  float* cells = plane_cells + band.cells;
  if (band.pixel_step == 1)
    return with_chunk(band.width, [&](auto chunk) { copy_rows(band, pixels, cells, chunk); });
  for (std::int64_t row = 0; row < band.rows; ++row)
    for (std::int64_t i = 0; i < band.width; ++i)
      cells[row * band.cell_pitch + i] = pixels[row * band.pixel_pitch + i * band.pixel_step];
}

void add_band(const Band& band, const float* plane_cells, float* plane) {
  const float* cells = plane_cells + band.cells;
  float* pixels = plane + band.pixels;
  if (band.pixel_step == 1)
    return with_chunk(band.width, [&](auto chunk) { add_rows(band, cells, pixels, chunk); });
  for (std::int64_t row = 0; row < band.rows; ++row)
    for (std::int64_t i = 0; i < band.width; ++i)
      pixels[row * band.pixel_pitch + i * band.pixel_step] += cells[row * band.cell_pitch + i];
}

/// Zeroes what `band` leaves out of a plane's cells.
void clear_padding(const Conv2dGeometry& conv, const Tap& tap, float* cells) {
  const auto [first_row, last_row] = tap.rows;
  const auto [first, last] = tap.columns;
  std::fill(cells, cells + first_row * conv.ow, 0.0f);
  if (first > 0 || last < conv.ow)
    for (std::int64_t row = first_row; row < last_row; ++row) {
      std::fill(cells + row * conv.ow, cells + row * conv.ow + first, 0.0f);
      std::fill(cells + row * conv.ow + last, cells + (row + 1) * conv.ow, 0.0f);
    }
  std::fill(cells + last_row * conv.ow, cells + conv.pixels(), 0.0f);
}

/// Calls `work(tap, plane, cells)` with the offsets of each plane in x and of its cells in columns.
template <class Work>
void for_each_plane(const Conv2dGeometry& conv, std::int64_t samples, Work work) {
  const std::int64_t pitch = samples * conv.pixels();
  for (std::int64_t kh = 0; kh < conv.window.kernel[0]; ++kh)
    for (std::int64_t kw = 0; kw < conv.window.kernel[1]; ++kw) {
      const Tap seen = tap(conv, kh, kw);
      const std::int64_t position = kh * conv.window.kernel[1] + kw;
      for (std::int64_t channel = 0; channel < conv.group_inputs(); ++channel)
        for (std::int64_t sample = 0; sample < samples; ++sample)
          work(seen, (sample * conv.c + channel) * conv.h * conv.w,
               (channel * conv.window.cells() + position) * pitch + sample * conv.pixels());
    }
}

bool empty(const Band& band) {
  return band.rows <= 0 || band.width <= 0;
}

}  // namespace

void unfold(const Conv2dGeometry& conv, const float* x, std::int64_t samples, float* columns) {
  for_each_plane(conv, samples, [&](const Tap& seen, std::int64_t plane, std::int64_t cells) {
    clear_padding(conv, seen, columns + cells);
    if (const Band rows = band(conv, seen); !empty(rows))
      copy_band(rows, x + plane, columns + cells);
  });
}

void fold(const Conv2dGeometry& conv, const float* columns, std::int64_t samples, float* x) {
  for_each_plane(conv, samples, [&](const Tap& seen, std::int64_t plane, std::int64_t cells) {
    if (const Band rows = band(conv, seen); !empty(rows))
      add_band(rows, columns + cells, x + plane);
  });
}

}  // namespace penstock::graph
