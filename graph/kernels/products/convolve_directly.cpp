#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/convolve.hpp"
#include "graph/kernels/products/direct_tile.hpp"
#include "graph/kernels/products/image.hpp"
#include "graph/kernels/products/pack.hpp"
#include "graph/kernels/products/workspace.hpp"
#include "graph/kernels/vectors/finish.hpp"

// In this file, a Vector has the sums of one place in neighbouring planes of the target. The
// weights of these planes are packed. The pixels that places see are read from the source one by
// one, and pixels of the border are left out.

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// A Panel has the sums of a band in the neighbouring planes of the target whose weights make one
/// panel.
struct Panel {
  const Windows& w;
  const Band& band;
  std::int64_t result, results;
  const float* source;
  const float* weights;  ///< These are the packed weights [channel][tap][panel_width].
  const PanelEnd& end;
  float* sums;  ///< These are the sums [place][panel_width].
};

/// A PlaceRun is a run of neighbouring places of one row. For each column of the kernel, `skips`
/// says how many of these places are left out because they see only the border through it: at the
/// end of the run or, if the number is below zero, at its beginning.
struct PlaceRun {
  std::int64_t first, places;
  std::int8_t skips[most_row_taps];

  PlaceRun(const WindowAxis& axis, std::int64_t from, std::int64_t count)
      : first(from), places(count) {
    for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
      const std::int64_t low = first + axis.first + tap * axis.tap_step;
      const std::int64_t beyond = low + places - axis.size;
      skips[tap] = static_cast<std::int8_t>(low < 0 ? low : beyond > 0 ? beyond : 0);
    }
  }
};

/// Adds the products of `channels` channels to the sums of a run of places, which lies in row `row`
/// of sample `sample` of the band.
void multiply_run(const Panel& panel, const PlaceRun& run, std::int64_t sample, std::int64_t row,
                  std::int64_t channel, std::int64_t channels) {
  const Windows& w = panel.w;
  const std::int64_t width = w.columns.size, plane = w.rows.size * width;
  const std::int64_t row_taps = w.columns.taps, taps = w.rows.taps * row_taps;
  const std::int64_t y = panel.band.first_row + row;
  const SeenTaps seen(w.rows, y);
  const std::int64_t pixel =
      (y + w.rows.first + seen.first * w.rows.tap_step) * width + run.first + w.columns.first;
  const bool last = channel + channels == w.channels;
  const std::int64_t place = (sample * panel.band.rows + row) * w.columns.places + run.first;
  DirectTile tile{.rows = static_cast<int>(run.places),
                  .vectors = panel.results > vector_size ? 2 : 1,
                  .left_row = 1,
                  .outer = {seen.count, w.rows.tap_step * width, row_taps * panel_width},
                  .inner = {row_taps, w.columns.tap_step, panel_width},
                  .steps = {channels, plane, taps * panel_width},
                  .skips = joins_rows(w) ? nullptr : run.skips,
                  .left = panel.source + (panel.band.first_sample + sample) * w.source_sample +
                          channel * plane + pixel,
                  .right = panel.weights + (channel * taps + seen.first * row_taps) * panel_width,
                  .accumulate = channel > 0,
                  .bias = nullptr,
                  .target = panel.sums + place * panel_width,
                  .target_pitch = panel_width};
  if (last) panel.end.give_to(tile);
  multiply_direct(tile);
}

/// Computes every sum of `panel`. A tile is no wider than the source, so that no tap sees the
/// border at both ends of the tile.
void multiply_panel(const Panel& panel) {
  const Windows& w = panel.w;
  const bool joined = joins_rows(w);
  const std::int64_t rows = joined ? 1 : panel.band.rows;
  const std::int64_t length = joined ? panel.band.rows * w.columns.places : w.columns.places;
  const std::int64_t most = joined ? most_rows : at_most(most_rows, w.columns.size);
  WindowAxis columns = w.columns;
  if (joined) columns.size = length;
  for_each_chunk(w.channels, w.block_channels, [&](std::int64_t channel, std::int64_t channels) {
    for_each_chunk(length, most, [&](std::int64_t first, std::int64_t places) {
      const PlaceRun run(columns, first, places);
      for (std::int64_t sample = 0; sample < panel.band.samples; ++sample)
        for (std::int64_t row = 0; row < rows; ++row)
          multiply_run(panel, run, sample, row, channel, channels);
    });
  });
}

/// Writes all sums of `panel` to the target.
void put_panel(const Panel& panel, float* target) {
  const Windows& w = panel.w;
  const std::int64_t places = panel.band.rows * w.columns.places;
  for (std::int64_t sample = 0; sample < panel.band.samples; ++sample) {
    float* const to = target + (panel.band.first_sample + sample) * w.target_sample +
                      panel.result * w.target_plane + panel.band.first_row * w.target_row;
    unpack_columns(panel.results, places, panel.sums + sample * places * panel_width, panel_width,
                   to, w.target_plane);
    for (std::int64_t i = 0; i < panel.results; ++i)
      add_addend(w.epilogue, places, target, to + i * w.target_plane);
  }
}

/// Calls `work(result, results)` for the panels of unit number `unit`: each has `results` planes of
/// the target from plane `result` on. A unit has `widest_panel` planes under every instruction set,
/// so that it may consist of several panels.
template <class Work>
void for_each_panel(const Windows& w, std::int64_t unit, Work work) {
  const std::int64_t end = at_most((unit + 1) * widest_panel, w.results);
  for (std::int64_t result = unit * widest_panel; result < end; result += panel_width)
    work(result, at_most(end - result, panel_width));
}

}  // namespace

void convolve_directly(const Windows& w, Part part, const float* source, const float* weight,
                       const float* bias, float* target, float* workspace) {
  const std::int64_t depth = w.channels * w.rows.taps * w.columns.taps, group = packed_results(w);
  const DirectWorkspace regions = direct_workspace(w);
  float* const weights = workspace + regions.weights;
  float* const sums = workspace + regions.places;
  std::int64_t before = 0;
  for (std::int64_t begin = 0; begin < w.results; begin += group) {
    const std::int64_t first = begin / widest_panel;
    const std::int64_t units = panels_of(at_most(group, w.results - begin));
    const auto packed = [&](std::int64_t result) {
      return w.packed ? weight + result * depth : weights + (result - begin) * depth;
    };
    std::uint64_t ready = 0;  // Bit i is 1 if the weights of unit i are packed.
    for_each_band(w, [&](const Band& band) {
      const Part units_here = overlap(part, before, units);
      before += units;
      for (std::int64_t unit = units_here.begin; unit < units_here.end; ++unit)
        for_each_panel(w, first + unit, [&](std::int64_t result, std::int64_t results) {
          if (!w.packed && (ready >> unit & 1) == 0)
            pack_weights(w, result, results, 0, w.channels, weight,
                         {weights + (result - begin) * depth, panel_width});
          const PanelEnd end(w, bias, result, results);
          const Panel panel{w, band, result, results, source, packed(result), end, sums};
          multiply_panel(panel);
          put_panel(panel, target);
        });
      for (std::int64_t unit = units_here.begin; unit < units_here.end; ++unit)
        ready |= std::uint64_t{1} << unit;
    });
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
