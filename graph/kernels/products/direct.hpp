// Which convolutions read their images where they lie, and how they are cut. The same for every
// instruction set; static, so that none of them shares a function.
#pragma once

#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/windows.hpp"

namespace penstock::graph {

/// Steps of depth of a panel of weights that the nearest cache holds beside what they meet.
inline constexpr std::int64_t direct_depth = 288;
/// Places at either end of a tile that a tap may show nothing but zeros around the image.
inline constexpr std::int64_t most_skipped = 2;
/// Taps of a row of such a kernel.
inline constexpr std::int64_t most_row_taps = 16;
/// Panels of results whose weights or gradients are packed at a time.
inline constexpr std::int64_t most_panels = 64;

static constexpr std::int64_t panels_of(std::int64_t results) {
  return (results + widest_panel - 1) / widest_panel;
}

/// Whether nearly all elements of vectors over results would be used.
static constexpr bool fills_vectors(std::int64_t results) {
  constexpr std::int64_t vector = widest_panel / 2;
  return results >= vector && 6 * results >= 5 * round_up(results, vector);
}

/// Whether rows of places are as good as one long row: windows of one pixel, side by side.
static constexpr bool joins_rows(const Windows& w) {
  const auto one_by_one = [](const WindowAxis& axis) {
    return axis.taps == 1 && axis.step == 1 && axis.first == 0 && axis.places == axis.size;
  };
  return one_by_one(w.rows) && one_by_one(w.columns);
}

/// Whether results are summed in vectors, places one by one from the source as it lies. With
/// little depth it takes too long to turn the sums around; channels whose pixels have the same
/// place in the nearest cache drive each other out of it, unless several taps read them.
static constexpr bool convolves_directly(const Windows& w) {
  constexpr std::int64_t fewest_channels = 16, fewest_places = 4;
  constexpr std::int64_t least_depth = 192, same_place = 1024;
  const WindowAxis& x = w.columns;
  // What the gradient of a stride leaves out between its results is not stepped over.
  if (w.rows.target_step != 1 || x.target_step != 1) return false;
  if (w.channels < fewest_channels || !fills_vectors(w.results)) return false;
  if (joins_rows(w)) {
    const std::int64_t pixels = w.rows.places * x.places;
    return w.channels >= least_depth && pixels >= fewest_places && pixels % same_place != 0;
  }
  return w.rows.step == 1 && x.step == 1 && w.rows.taps > 0 && x.taps > 0 &&
         x.taps <= most_row_taps && x.places >= fewest_places && x.size >= fewest_places &&
         x.low >= -most_skipped && x.low + x.places + x.span - x.size <= most_skipped;
}

/// Whether a gradient's results are summed in vectors, channel by channel of the source as it lies.
static constexpr bool sums_weights_directly(const Windows& w) {
  constexpr std::int64_t fewest_channels = 8;
  return w.channels >= fewest_channels && fills_vectors(w.results);
}

/// Results whose weights or gradients are in memory before the next are: whole panels, half a
/// second-level cache of them.
static constexpr std::int64_t packed_results(const Windows& w) {
  const std::int64_t depth = w.channels * w.rows.taps * w.columns.taps;
  const std::int64_t fit = at_most(right_block_floats / (depth * widest_panel), most_panels);
  return at_most(panels_of(w.results), fit > 1 ? fit : 1) * widest_panel;
}

}  // namespace penstock::graph
