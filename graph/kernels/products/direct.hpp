// Some convolutions read their images where they lie in memory, without packing them. This header
// says which convolutions do so, and how they are cut. It is the same for every instruction set;
// the functions are static, so that sources of different instruction sets share none of them.
#pragma once

#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/windows.hpp"

namespace penstock::graph {

/// The nearest cache holds a panel of weights of this many steps of depth beside the pixels that
/// are multiplied with them.
inline constexpr std::int64_t direct_depth = 288;
/// Is the largest number of places, at either end of a tile, that see only zeros around the image
/// through one tap.
inline constexpr std::int64_t most_skipped = 2;
/// Is the largest number of taps in a row of the kernel of a convolution that reads its images
/// where they lie.
inline constexpr std::int64_t most_row_taps = 16;
/// The weights or gradients of at most this many panels of results are packed at a time.
inline constexpr std::int64_t most_panels = 64;

static constexpr std::int64_t panels_of(std::int64_t results) {
  return (results + widest_panel - 1) / widest_panel;
}

/// Returns whether vectors over results would use nearly all of their elements.
static constexpr bool fills_vectors(std::int64_t results) {
  constexpr std::int64_t vector = widest_panel / 2;
  return results >= vector && 6 * results >= 5 * round_up(results, vector);
}

/// Returns whether place i (a pixel of the target) sees pixel i of the source, and no other pixel,
/// along both axes. All rows of places can then be computed as one long row.
static constexpr bool joins_rows(const Windows& w) {
  const auto one_by_one = [](const WindowAxis& axis) {
    return axis.taps == 1 && axis.step == 1 && axis.first == 0 && axis.places == axis.size;
  };
  return one_by_one(w.rows) && one_by_one(w.columns);
}

/// Returns whether the convolution is computed in vectors of results, while pixels are read one by
/// one from the source where it lies. If there is little depth, it takes too long to transpose the
/// sums. Channels whose pixels have the same place in the nearest cache drive each other out of it,
/// unless several taps read them.
static constexpr bool convolves_directly(const Windows& w) {
  constexpr std::int64_t fewest_channels = 16, fewest_places = 4;
  constexpr std::int64_t least_depth = 192, same_place = 1024;
  const WindowAxis& x = w.columns;
  // The input gradient of a convolution with a stride has gaps between its places in the target,
  // which vectors cannot step over.
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

/// Returns whether the gradient of the weights is computed in vectors of results, while pixels are
/// read one by one from the source where it lies.
static constexpr bool sums_weights_directly(const Windows& w) {
  constexpr std::int64_t fewest_channels = 8;
  return w.channels >= fewest_channels && fills_vectors(w.results);
}

/// Returns how many results have their weights or gradients in memory at a time: as many whole
/// panels as fit into half a second-level cache, but at least one.
static constexpr std::int64_t packed_results(const Windows& w) {
  const std::int64_t depth = w.channels * w.rows.taps * w.columns.taps;
  const std::int64_t fit = at_most(right_block_floats / (depth * widest_panel), most_panels);
  return at_most(panels_of(w.results), fit > 1 ? fit : 1) * widest_panel;
}

}  // namespace penstock::graph
