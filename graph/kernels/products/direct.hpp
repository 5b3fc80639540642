// Some convolutions read the source directly, where it lies in memory, and pack none of its pixels.
// This header says which convolutions do so, and how they are cut, which is the same for every
// instruction set. The functions are static, so that sources compiled for different instruction
// sets share none of them.
#pragma once

#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/windows.hpp"

namespace penstock::graph {

/// A convolution that reads its source directly sums over at most about this many steps of depth at
/// a time: a first-level cache holds the weights of a panel for them, together with the pixels that
/// are multiplied by these weights.
inline constexpr std::int64_t direct_depth = 288;
/// At either end of a tile, at most this many places see only the border of the source through the
/// same tap.
inline constexpr std::int64_t most_skipped = 2;
/// A convolution that reads its source directly has at most this many taps in a row of its kernel.
inline constexpr std::int64_t most_row_taps = 16;
/// The weights or gradients of at most this many panels are packed at a time.
inline constexpr std::int64_t most_panels = 64;

static constexpr std::int64_t panels_of(std::int64_t results) {
  return (results + widest_panel - 1) / widest_panel;
}

/// Returns whether `results` floats side by side fill nearly all elements of the Vectors that hold
/// them, under every instruction set.
static constexpr bool fills_vectors(std::int64_t results) {
  constexpr std::int64_t vector = widest_panel / 2;
  return results >= vector && 6 * results >= 5 * round_up(results, vector);
}

/// Returns whether place i sees pixel i of the source, and no other pixel, along both axes. All
/// rows of places can then be computed as one long row.
static constexpr bool joins_rows(const Windows& w) {
  const auto one_by_one = [](const WindowAxis& axis) {
    return axis.taps == 1 && axis.step == 1 && axis.first == 0 && axis.places == axis.size;
  };
  return one_by_one(w.rows) && one_by_one(w.columns);
}

/// Returns whether the convolution reads its source directly: a Vector then has the same place in
/// several planes of the target, and pixels are read one by one. With little depth, transposing the
/// sums into the target would take too long. Channels whose pixels are a multiple of 1024 floats
/// apart drive each other out of a first-level cache, which is worth it only if several taps read
/// each pixel.
static constexpr bool convolves_directly(const Windows& w) {
  constexpr std::int64_t fewest_channels = 16, fewest_places = 4;
  constexpr std::int64_t least_depth = 192, same_place = 1024;
  const WindowAxis& x = w.columns;
  // The gradient of the input of a convolution with a stride has gaps between its places in the
  // target, which Vectors cannot step over.
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

/// Returns whether the rows of a tile are samples: all of them see the source through the same
/// taps, so that nothing is multiplied by the border, which is a large part of what places see if
/// images are small. The source is transposed for that, which takes little time if there are few
/// pixels.
static constexpr bool convolves_by_samples(const Windows& w) {
  constexpr std::int64_t fewest_channels = 16, most_places = 16, most_pixels = 64;
  const std::int64_t pixels = w.rows.size * w.columns.size;
  return !convolves_directly(w) && w.channels >= fewest_channels && fills_vectors(w.results) &&
         w.rows.places * w.columns.places <= most_places && pixels <= most_pixels;
}

/// Returns whether the convolution packs the weights of whole panels, over all channels, which can
/// then be packed beforehand.
static constexpr bool packs_panels(const Windows& w) {
  return w.rows.taps * w.columns.taps > 0 && (convolves_directly(w) || convolves_by_samples(w));
}

/// Returns how many floats the weights of all panels take, as ProductKernels::pack_panels() packs
/// them.
static constexpr std::int64_t packed_floats(const Windows& w) {
  return panels_of(w.results) * widest_panel * w.channels * w.rows.taps * w.columns.taps;
}

/// Returns how many samples convolve_by_samples() computes at a time, so that their transposed
/// pixels take no more than 4 MB, and packed weights are used often enough.
static constexpr std::int64_t samples_at_once(const Windows& w) {
  constexpr std::int64_t most_floats = 1 << 20, fewest = 64;
  const std::int64_t fit = most_floats / (w.rows.size * w.columns.size * w.channels);
  return at_most(w.samples, fit > fewest ? fit : fewest);
}

/// Returns whether the gradient of the weights reads the source directly: a Vector then has the
/// gradients of the same place in several planes of the target, and pixels are read one by one.
static constexpr bool sums_weights_directly(const Windows& w) {
  constexpr std::int64_t fewest_channels = 8;
  return w.channels >= fewest_channels && fills_vectors(w.results);
}

/// Returns for how many planes of the target weights or gradients are in the workspace at a time:
/// as many whole panels as fit into half a second-level cache, but at least one.
static constexpr std::int64_t packed_results(const Windows& w) {
  const std::int64_t depth = w.channels * w.rows.taps * w.columns.taps;
  const std::int64_t fit = at_most(right_block_floats / (depth * widest_panel), most_panels);
  return at_most(panels_of(w.results), fit > 1 ? fit : 1) * widest_panel;
}

}  // namespace penstock::graph
