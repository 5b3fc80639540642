#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/convolve.hpp"
#include "graph/kernels/products/direct.hpp"
#include "graph/kernels/products/image.hpp"
#include "graph/kernels/products/pack.hpp"
#include "graph/kernels/products/tile.hpp"
#include "graph/kernels/products/workspace.hpp"

// In this file, a Vector has the sums of neighbouring channels. The pixels of the source are
// transposed, so that the channels of a pixel lie side by side; the pixels that a place sees
// through one row of the kernel are then one run of memory, and need not be copied together.

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// If a kernel has more taps than this, its gradients are put in order float by float, not Vector
/// by Vector.
constexpr std::int64_t most_taps = 49;

/// Pixels are the pixels that the places of a band see, as [sample][y][x][channel], with the border
/// around the source.
struct Pixels {
  float* data;
  std::int64_t channels;
  std::int64_t height, width;  ///< Both include the border around the source.

  std::int64_t at(std::int64_t sample, std::int64_t y, std::int64_t x) const {
    return ((sample * height + y) * width + x) * channels;
  }
};

void transpose_pixel_by_pixel(std::int64_t channels, std::int64_t count, const float* from,
                              std::int64_t plane, float* to, std::int64_t pitch) {
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = 0; i < count; ++i) to[i * pitch + c] = from[c * plane + i];
}

/// Transposes `count` neighbouring pixels of all channels, in squares of `vector_size` pixels. The
/// last square overlaps the one before it if fewer pixels are left.
void transpose_row(std::int64_t channels, std::int64_t count, const float* from, std::int64_t plane,
                   float* to) {
  std::int64_t c = 0;
  if (count >= vector_size)
    for (; c + vector_size <= channels; c += vector_size)
      for (std::int64_t i = 0; i < count; i += vector_size) {
        const std::int64_t first = at_most(i, count - vector_size);
        transpose_square(vector_size, from + c * plane + first, plane,
                         {to + first * channels + c, channels});
      }
  transpose_pixel_by_pixel(channels - c, count, from + c * plane, plane, to + c, channels);
}

Pixels pixels_of(const Windows& w, const Band& band, const float* source, float* to) {
  const Pixels pixels{to, w.channels, seen(w.rows, band.rows), seen(w.columns, w.columns.places)};
  const Extent rows(w.rows, band.first_row, band.rows), columns(w.columns, 0, w.columns.places);
  const std::int64_t floats = pixels.at(band.samples, 0, 0);
  if (rows.count != pixels.height || columns.count != pixels.width)
    __builtin_memset(to, 0, sizeof(float) * static_cast<std::size_t>(floats));
  if (columns.count <= 0) return pixels;
  const std::int64_t plane = w.rows.size * w.columns.size;
  // Rows that have no border between them are transposed as one long row.
  const bool joined = columns.count == w.columns.size && columns.count == pixels.width;
  const std::int64_t row_count = joined && rows.count > 0 ? 1 : rows.count;
  const std::int64_t length = joined ? rows.count * columns.count : columns.count;
  for (std::int64_t sample = 0; sample < band.samples; ++sample)
    for (std::int64_t y = 0; y < row_count; ++y)
      transpose_row(w.channels, length,
                    source + (band.first_sample + sample) * w.source_sample +
                        (rows.first + y) * w.columns.size + columns.first,
                    plane, to + pixels.at(sample, rows.to + y, columns.to));
  return pixels;
}

/// Packs the gradients of `results` planes of the target, from plane `result` on, place by place.
void pack_gradients(const Windows& w, const Band& band, std::int64_t result, std::int64_t results,
                    const float* gradient, float* to) {
  const std::int64_t places = band.rows * w.columns.places;
  gradient += result * w.target_plane + band.first_row * w.target_row;
  for (std::int64_t sample = 0; sample < band.samples; ++sample, to += places * left_pitch)
    pack_columns(results, places, gradient + (band.first_sample + sample) * w.target_sample,
                 w.target_plane, {to, left_pitch});
}

/// Calls `work(offset, pixel, length)` for every run of weights whose pixels lie side by side.
/// `offset` is where the run begins among the sums of one plane of the target, `pixel` is where it
/// begins in `pixels` for the first place, and `length` is its number of floats.
template <class Work>
[[gnu::always_inline]] inline void for_each_run(const Windows& w, const Pixels& pixels, Work work) {
  const bool whole_rows = w.columns.tap_step == 1;
  const std::int64_t taps = whole_rows ? 1 : w.columns.taps;
  const std::int64_t length = w.channels * (whole_rows ? w.columns.taps : 1);
  for (std::int64_t y = 0; y < w.rows.taps; ++y)
    for (std::int64_t x = 0; x < taps; ++x)
      work((y * taps + x) * length, pixels.at(0, y * w.rows.tap_step, x * w.columns.tap_step),
           length);
}

void add_band(const Windows& w, Part part, const Band& band, const Pixels& pixels,
              const float* gradient, float* left, float* sums) {
  constexpr std::int64_t most_runs = 256;
  std::int64_t starts[most_runs];
  const std::int64_t runs = band.samples * band.rows;
  for (std::int64_t i = 0; i < runs; ++i)
    starts[i] = pixels.at(i / band.rows, i % band.rows * w.rows.step, 0);
  const std::int64_t cells = w.channels * w.rows.taps * w.columns.taps;
  const bool first = band.first_sample == 0 && band.first_row == 0;
  for_each_chunk(part.end - part.begin, most_rows, [&](std::int64_t at, std::int64_t results) {
    const std::int64_t result = part.begin + at;
    pack_gradients(w, band, result, results, gradient, left);
    for_each_run(w, pixels, [&](std::int64_t cell, std::int64_t pixel, std::int64_t length) {
      multiply_columns({.rows = static_cast<int>(results),
                        .vectors = 2,
                        .panels = 0,
                        .runs = runs,
                        .steps = w.columns.places,
                        .left = left,
                        .right = pixels.data + pixel,
                        .starts = starts,
                        .right_pitch = w.columns.step * w.channels,
                        .right_panel = panel_width,
                        .accumulate = !first,
                        .bias_is = Bias::none,
                        .bias = nullptr,
                        .target = sums + result * cells + cell,
                        .target_pitch = cells},
                       length);
    });
  });
}

/// Transposes sums [taps][channels] to [channels][taps] for `vector_size` channels. A square of
/// Vectors may write past the last tap of a channel, to the first taps of the next channel, which
/// are written later.
void put_channels_first(std::int64_t taps, std::int64_t channels, const float* sums,
                        float* gradient) {
  float buffer[vector_size * (most_taps + 1)];
  for (std::int64_t tap = (taps - 1) / vector_size * vector_size; tap >= 0; tap -= vector_size)
    transpose_square(taps - tap, sums + tap * channels, channels, {buffer + tap, taps});
  __builtin_memcpy(gradient, buffer, sizeof(float) * static_cast<std::size_t>(vector_size * taps));
}

/// Transposes sums [planes of the target][taps][channels] to [planes of the
/// target][channels][taps], for the planes `results`.
void put_channels_first(const Windows& w, Part results, const float* sums, float* gradient) {
  const std::int64_t taps = w.rows.taps * w.columns.taps;
  sums += results.begin * taps * w.channels;
  gradient += results.begin * taps * w.channels;
  for (std::int64_t result = results.begin; result < results.end; ++result) {
    std::int64_t c = 0;
    for (; taps <= most_taps && c + vector_size <= w.channels; c += vector_size)
      put_channels_first(taps, w.channels, sums + c, gradient + c * taps);
    for (; c < w.channels; ++c)
      for (std::int64_t tap = 0; tap < taps; ++tap)
        gradient[c * taps + tap] = sums[tap * w.channels + c];
    sums += taps * w.channels;
    gradient += taps * w.channels;
  }
}

}  // namespace

void convolve_weight_gradient(const Windows& w, Part part, const float* source,
                              const float* target_gradient, float* weight_gradient,
                              float* workspace) {
  const Part results = within(part, w.results);
  if (sums_weights_directly(w))
    return weight_gradient_directly(w, results, source, target_gradient, weight_gradient,
                                    workspace);
  const std::int64_t taps = w.rows.taps * w.columns.taps, cells = w.channels * taps;
  const WeightGradientWorkspace regions = weight_gradient_workspace(w);
  float* const left = workspace + regions.gradients;
  float* const sums = taps == 1 ? weight_gradient : workspace + regions.sums;
  float* const pixels = workspace + regions.padded;
  if (w.samples == 0)
    __builtin_memset(
        sums + results.begin * cells, 0,
        sizeof(float) * static_cast<std::size_t>((results.end - results.begin) * cells));
  for_each_band(w, [&](const Band& band) {
    add_band(w, results, band, pixels_of(w, band, source, pixels), target_gradient, left, sums);
  });
  if (taps != 1) put_channels_first(w, results, sums, weight_gradient);
}

}  // namespace penstock::graph::PENSTOCK_ISA
