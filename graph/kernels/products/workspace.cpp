#include "graph/kernels/products/workspace.hpp"

#include <algorithm>

#include "graph/kernels/products/bands.hpp"
#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/products/direct.hpp"

namespace penstock::graph {
namespace {

/// Copies and Vectors may read or write this many floats past the last pixel.
constexpr std::int64_t slack = widest_panel;

std::int64_t taps(const Windows& w) {
  return w.rows.taps * w.columns.taps;
}
std::int64_t band_places(const Windows& w) {
  return w.band_samples * w.band_rows * w.columns.places;
}

/// Returns how many floats a plane of the Image of a band takes, with rows that are padded to whole
/// steps.
std::int64_t plane_floats(const Windows& w) {
  const std::int64_t height = (w.band_rows - 1) * w.rows.step + w.rows.span + 1;
  const std::int64_t width = (w.columns.places - 1) * w.columns.step + w.columns.span + 1;
  return height * round_up(width, w.columns.step);
}

}  // namespace

std::int64_t product_floats(std::int64_t rows, std::int64_t columns, std::int64_t depth) noexcept {
  return std::max({packed_workspace(columns, depth).end, turned_floats(rows, depth),
                   stationary_workspace(rows, columns, depth).end});
}

std::int64_t packed_factor_floats(std::int64_t columns, std::int64_t depth) noexcept {
  return round_up(columns, widest_panel) * depth;
}

std::int64_t packed_product_floats(std::int64_t depth) noexcept {
  return widest_left * at_most(depth, depth_block);
}

std::int64_t convolve_floats(const Windows& w) noexcept {
  if (convolves_by_samples(w)) return samples_workspace(w).end;
  return convolves_directly(w) ? direct_workspace(w).end : convolve_workspace(w).end;
}

std::int64_t weight_gradient_floats(const Windows& w) noexcept {
  return sums_weights_directly(w) ? direct_workspace(w).end : weight_gradient_workspace(w).end;
}

DirectWorkspace direct_workspace(const Windows& w) noexcept {
  const std::int64_t weights = 0;
  const std::int64_t places = weights + (w.packed ? 0 : packed_results(w) * w.channels * taps(w));
  return {weights, places, places + band_places(w) * widest_panel};
}

SamplesWorkspace samples_workspace(const Windows& w) noexcept {
  const std::int64_t pixels = w.rows.size * w.columns.size;
  const std::int64_t places = w.rows.places * w.columns.places, samples = samples_at_once(w);
  const std::int64_t weights = 0;
  const std::int64_t transposed = weights + (w.packed ? 0 : w.channels * taps(w) * widest_panel);
  const std::int64_t sums = transposed + (pixels == 1 ? 0 : samples * pixels * w.channels);
  return {weights, transposed, sums, sums + samples * places * widest_panel};
}

ConvolveWorkspace convolve_workspace(const Windows& w) noexcept {
  const std::int64_t depth = w.block_channels * taps(w);
  const std::int64_t panel = 0;
  const std::int64_t weights = panel + widest_panel * depth;
  const std::int64_t padded = weights + packed_rows(at_most(w.results, results_block)) * depth;
  return {panel, weights, padded,
          padded + w.band_samples * w.block_channels * plane_floats(w) + slack};
}

WeightGradientWorkspace weight_gradient_workspace(const Windows& w) noexcept {
  const std::int64_t weights = w.results * w.channels * taps(w);
  const std::int64_t gradients = 0;
  const std::int64_t sums = gradients + widest_left * band_places(w);
  const std::int64_t padded = sums + (taps(w) == 1 ? 0 : round_up(weights, widest_left));
  return {gradients, sums, padded, padded + w.band_samples * w.channels * plane_floats(w) + slack};
}

}  // namespace penstock::graph
