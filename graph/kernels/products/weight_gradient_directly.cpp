#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/convolve.hpp"
#include "graph/kernels/products/direct_tile.hpp"
#include "graph/kernels/products/image.hpp"
#include "graph/kernels/products/pack.hpp"
#include "graph/kernels/products/workspace.hpp"

// The gradient of a weight is the sum, over all places of the target, of the gradient there times
// the pixel of the source that the weight meets there. In this file, a Vector has the gradients of
// one place in neighbouring planes of the target, which are transposed for that, and is multiplied
// by one pixel at a time. Pixels of the border are 0, and are left out.

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Gradients are the gradients of a band in some neighbouring planes of the target.
struct Gradients {
  const Windows& w;
  const Band& band;
  std::int64_t results;
  const float* data;  ///< These are the gradients [place][panel_width].
};

/// Places are those of the `places` places from `from` on that see a pixel of the source, not of
/// the border, through one tap along an axis.
struct Places {
  std::int64_t first, count;

  Places(const WindowAxis& axis, std::int64_t tap, std::int64_t from, std::int64_t places) {
    const std::int64_t pixel = axis.first + tap * axis.tap_step;
    // Returns the first place that sees pixel `limit` or a later pixel.
    const auto past = [&](std::int64_t limit) {
      return pixel >= limit ? 0 : (limit - pixel + axis.step - 1) / axis.step;
    };
    const std::int64_t low = past(0), high = past(axis.size), end = from + places;
    first = low > from ? low : from;
    count = (high < end ? high : end) - first;
    if (count < 0) count = 0;
  }
};

/// Adds the products of a band, tap by tap, to the sums [channel][tap][panel_width] of `channels`
/// neighbouring channels.
void add_channels(const Gradients& gradients, std::int64_t channels, const float* source,
                  float* sums) {
  const Windows& w = gradients.w;
  const Band& band = gradients.band;
  const std::int64_t width = w.columns.size, row_taps = w.columns.taps;
  const std::int64_t taps = w.rows.taps * row_taps;
  const bool joined = joins_rows(w);
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const std::int64_t row = tap / row_taps, column = tap % row_taps;
    const Places ys(w.rows, row, band.first_row, band.rows);
    const Places xs(w.columns, column, 0, w.columns.places);
    const std::int64_t y = w.rows.first + row * w.rows.tap_step + ys.first * w.rows.step;
    const std::int64_t x =
        w.columns.first + column * w.columns.tap_step + xs.first * w.columns.step;
    const std::int64_t place = (ys.first - band.first_row) * w.columns.places + xs.first;
    multiply_direct(
        {.rows = static_cast<int>(channels),
         .vectors = gradients.results > vector_size ? 2 : 1,
         .left_row = w.rows.size * width,
         .outer = {band.samples, w.source_sample, band.rows * w.columns.places * panel_width},
         .inner = {joined ? 1 : ys.count, w.rows.step * width, w.columns.places * panel_width},
         .steps = {joined ? ys.count * xs.count : xs.count, w.columns.step, panel_width},
         .skips = nullptr,
         .left = source + band.first_sample * w.source_sample + y * width + x,
         .right = gradients.data + place * panel_width,
         .accumulate = band.first_sample > 0 || band.first_row > 0,
         .bias = nullptr,
         .target = sums + tap * panel_width,
         .target_pitch = taps * panel_width});
  }
}

void add_band(const Gradients& gradients, const float* source, float* sums) {
  const Windows& w = gradients.w;
  const std::int64_t plane = w.rows.size * w.columns.size, taps = w.rows.taps * w.columns.taps;
  for_each_chunk(w.channels, most_rows, [&](std::int64_t channel, std::int64_t channels) {
    add_channels(gradients, channels, source + channel * plane,
                 sums + channel * taps * panel_width);
  });
}

/// Transposes the gradients of a band in `results` planes of the target, the first of which begins
/// at `gradient`.
void transpose_gradients(const Windows& w, const Band& band, std::int64_t results,
                         const float* gradient, float* to) {
  const std::int64_t places = band.rows * w.columns.places;
  gradient += band.first_sample * w.target_sample + band.first_row * w.target_row;
  for (std::int64_t sample = 0; sample < band.samples; ++sample) {
    pack_columns(results, places, gradient, w.target_plane, {to, panel_width});
    gradient += w.target_sample;
    to += places * panel_width;
  }
}

}  // namespace

void weight_gradient_directly(const Windows& w, Part part, const float* source,
                              const float* target_gradient, float* weight_gradient,
                              float* workspace) {
  const std::int64_t cells = w.channels * w.rows.taps * w.columns.taps, group = packed_results(w);
  const DirectWorkspace regions = direct_workspace(w);
  float* const sums = workspace + regions.weights;
  float* const gradients = workspace + regions.places;
  for (std::int64_t begin = part.begin; begin < part.end; begin += group) {
    const std::int64_t end = at_most(begin + group, part.end);
    const auto for_each_panel = [&](auto work) {
      for (std::int64_t result = begin; result < end; result += panel_width)
        work(result, at_most(end - result, panel_width), sums + (result - begin) * cells);
    };
    if (band_count(w) == 0)
      __builtin_memset(sums, 0, sizeof(float) * static_cast<std::size_t>(group * cells));
    for_each_band(w, [&](const Band& band) {
      for_each_panel([&](std::int64_t result, std::int64_t results, float* to) {
        transpose_gradients(w, band, results, target_gradient + result * w.target_plane, gradients);
        add_band({w, band, results, gradients}, source, to);
      });
    });
    for_each_panel([&](std::int64_t result, std::int64_t results, const float* from) {
      unpack_columns(results, cells, from, panel_width, weight_gradient + result * cells, cells);
    });
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
