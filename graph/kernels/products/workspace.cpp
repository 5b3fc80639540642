#include "graph/kernels/products/workspace.hpp"

#include <algorithm>

#include "graph/kernels/products/bands.hpp"
#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/direct.hpp"

namespace penstock::graph {
namespace {

/// Copies and Vectors may touch this many floats past the last pixel.
constexpr std::int64_t slack = widest_panel;

std::int64_t taps(const Windows& w) {
  return w.rows.taps * w.columns.taps;
}
std::int64_t band_places(const Windows& w) {
  return w.band_samples * w.band_rows * w.columns.places;
}

/// Returns the floats of a plane of a band with the zeros around it; its rows are padded to whole
/// steps.
std::int64_t plane_floats(const Windows& w) {
  const std::int64_t height = (w.band_rows - 1) * w.rows.step + w.rows.span + 1;
  const std::int64_t width = (w.columns.places - 1) * w.columns.step + w.columns.span + 1;
  return height * round_up(width, w.columns.step);
}

}  // namespace

std::int64_t product_floats(std::int64_t rows, std::int64_t columns, std::int64_t depth) noexcept {
  const std::int64_t packed =
      left_floats(depth) + column_block(columns, depth) * at_most(depth, depth_block);
  return std::max({packed, turned_floats(rows, depth), stationary_floats(rows, columns, depth)});
}

std::int64_t convolve_floats(const Windows& w) noexcept {
  if (convolves_directly(w))
    return packed_results(w) * w.channels * taps(w) + band_places(w) * widest_panel;
  const std::int64_t depth = w.block_channels * taps(w);
  return depth * (widest_panel + packed_rows(at_most(w.results, results_block))) +
         w.band_samples * w.block_channels * plane_floats(w) + slack;
}

std::int64_t weight_gradient_floats(const Windows& w) noexcept {
  if (sums_weights_directly(w))
    return packed_results(w) * w.channels * taps(w) + band_places(w) * widest_panel;
  const std::int64_t sums = w.results * w.channels * taps(w);
  return widest_left * band_places(w) + (taps(w) == 1 ? 0 : round_up(sums, widest_left)) +
         w.band_samples * w.channels * plane_floats(w) + slack;
}

}  // namespace penstock::graph
