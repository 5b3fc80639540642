#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/convolve.hpp"
#include "graph/kernels/products/direct_tile.hpp"
#include "graph/kernels/products/pack.hpp"
#include "graph/kernels/products/workspace.hpp"
#include "graph/kernels/vectors/finish.hpp"

// In this file, a Vector has the sums of one place in neighbouring planes of the target, and the
// rows of a tile are samples. The source is transposed, so that the channels that a place sees
// through a tap lie side by side.

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Pixels are the source as [sample][pixel][channel].
struct Pixels {
  const float* data;
  std::int64_t sample;  ///< This is the number of floats from one sample to the next.
};

/// Returns whether a place sees pixel `pixel` of the axis.
bool sees(const WindowAxis& axis, std::int64_t pixel) {
  for (std::int64_t place = 0; place < axis.places; ++place)
    for (std::int64_t tap = 0; tap < axis.taps; ++tap)
      if (axis.first + place * axis.step + tap * axis.tap_step == pixel) return true;
  return false;
}

/// Transposes those pixels of the source that a place sees to `to`.
Pixels transpose_seen(const Windows& w, const float* source, float* to) {
  const std::int64_t width = w.columns.size, pixels = w.rows.size * width;
  if (pixels == 1) return {source, w.source_sample};
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
    if (!sees(w.rows, pixel / width) || !sees(w.columns, pixel % width)) continue;
    for (std::int64_t sample = 0; sample < w.samples; ++sample) {
      const float* const from = source + sample * w.source_sample + pixel;
      float* const row = to + (sample * pixels + pixel) * w.channels;
      for (std::int64_t channel = 0; channel < w.channels; ++channel)
        row[channel] = from[channel * pixels];
    }
  }
  return {to, pixels * w.channels};
}

/// A Panel has the sums of all samples in the neighbouring planes of the target whose weights make
/// one panel.
struct Panel {
  const Windows& w;
  std::int64_t result, results;
  Pixels pixels;
  const float* weights;  ///< These are the packed weights [channel][tap][panel_width].
  const PanelEnd& end;
  float* sums;  ///< These are the sums [sample][place][panel_width].

  std::int64_t places() const { return w.rows.places * w.columns.places; }
};

void multiply_place(const Panel& panel, std::int64_t y, std::int64_t x) {
  const Windows& w = panel.w;
  const std::int64_t width = w.columns.size, row_taps = w.columns.taps;
  const std::int64_t taps = w.rows.taps * row_taps, channels = w.channels;
  const SeenTaps rows(w.rows, y), columns(w.columns, x);
  const std::int64_t first_row = w.rows.first + y * w.rows.step + rows.first * w.rows.tap_step;
  const std::int64_t first_column =
      w.columns.first + x * w.columns.step + columns.first * w.columns.tap_step;
  const bool none = rows.count == 0 || columns.count == 0;
  const std::int64_t pixel = none ? 0 : first_row * width + first_column;
  const std::int64_t tap = none ? 0 : rows.first * row_taps + columns.first;
  for_each_chunk(w.samples, most_rows, [&](std::int64_t sample, std::int64_t samples) {
    DirectTile tile{
        .rows = static_cast<int>(samples),
        .vectors = panel.results > vector_size ? 2 : 1,
        .left_row = panel.pixels.sample,
        .outer = {rows.count, w.rows.tap_step * width * channels, row_taps * panel_width},
        .inner = {columns.count, w.columns.tap_step * channels, panel_width},
        .steps = {channels, 1, taps * panel_width},
        .skips = nullptr,
        .left = panel.pixels.data + sample * panel.pixels.sample + pixel * channels,
        .right = panel.weights + tap * panel_width,
        .accumulate = false,
        .bias = nullptr,
        .target = panel.sums + (sample * panel.places() + y * w.columns.places + x) * panel_width,
        .target_pitch = panel.places() * panel_width};
    panel.end.give_to(tile);
    multiply_direct(tile);
  });
}

/// Writes the sums of one sample to the planes of the target, the first of which begins at `to`.
void put_sample(const Panel& panel, const float* sums, float* to) {
  const Windows& w = panel.w;
  if (w.target_plane == 1) return copy_floats(panel.results, sums, to);
  if (w.target_plane == panel.places())
    return unpack_columns(panel.results, panel.places(), sums, panel_width, to, w.target_plane);
  for (std::int64_t y = 0; y < w.rows.places; ++y)
    for (std::int64_t x = 0; x < w.columns.places; ++x, sums += panel_width) {
      float* const place = to + (w.rows.target_first + y * w.rows.target_step) * w.target_row +
                           w.columns.target_first + x * w.columns.target_step;
      for (std::int64_t i = 0; i < panel.results; ++i) place[i * w.target_plane] = sums[i];
    }
}

/// Computes the panels of `units` for all samples of `w`.
void convolve_samples(const Windows& w, Part units, const float* source, const float* weight,
                      const float* bias, float* target, float* workspace) {
  const SamplesWorkspace regions = samples_workspace(w);
  const std::int64_t depth = w.channels * w.rows.taps * w.columns.taps;
  float* const weights = workspace + regions.weights;
  const Pixels pixels = transpose_seen(w, source, workspace + regions.transposed);
  const std::int64_t end = at_most(units.end * widest_panel, w.results);
  for (std::int64_t result = units.begin * widest_panel; result < end; result += panel_width) {
    const std::int64_t results = at_most(end - result, panel_width);
    if (!w.packed) pack_weights(w, result, results, 0, w.channels, weight, {weights, panel_width});
    const float* const packed = w.packed ? weight + result * depth : weights;
    const PanelEnd panel_end(w, bias, result, results);
    const Panel panel{w, result, results, pixels, packed, panel_end, workspace + regions.sums};
    for (std::int64_t y = 0; y < w.rows.places; ++y)
      for (std::int64_t x = 0; x < w.columns.places; ++x) multiply_place(panel, y, x);
    for (std::int64_t sample = 0; sample < w.samples; ++sample) {
      float* const to = target + sample * w.target_sample + result * w.target_plane;
      put_sample(panel, panel.sums + sample * panel.places() * panel_width, to);
      add_addend(w.epilogue, results * w.target_plane, target, to);
    }
  }
}

}  // namespace

void convolve_by_samples(const Windows& w, Part part, const float* source, const float* weight,
                         const float* bias, float* target, float* workspace) {
  const Part units = within(part, panels_of(w.results));
  if (empty(units)) return;
  const std::int64_t most = samples_at_once(w);
  for (std::int64_t first = 0; first < w.samples; first += most) {
    Windows some = w;
    some.samples = at_most(w.samples - first, most);
    if (some.epilogue.addend) some.epilogue.addend += first * w.target_sample;
    convolve_samples(some, units, source + first * w.source_sample, weight, bias,
                     target + first * w.target_sample, workspace);
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
