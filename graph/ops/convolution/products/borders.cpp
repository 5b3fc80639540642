#include "graph/ops/convolution/products/borders.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "graph/kernels/products/direct.hpp"

namespace penstock::graph {
namespace {

/// Returns the places whose taps all lie within the source.
Part inner_places(const WindowAxis& axis) {
  const std::int64_t room = axis.size - axis.span - axis.low;
  const std::int64_t before = axis.low < 0 ? (-axis.low + axis.step - 1) / axis.step : 0;
  const std::int64_t end = std::min(room > 0 ? (room - 1) / axis.step + 1 : 0, axis.places);
  return before < end ? Part{before, end} : Part{0, 0};
}

/// Returns which taps of `place` lie within the source. These taps are neighbours.
Part taps_within(const WindowAxis& axis, std::int64_t place) {
  const auto within_source = [&](std::int64_t tap) {
    const std::int64_t pixel = axis.first + place * axis.step + tap * axis.tap_step;
    return pixel >= 0 && pixel < axis.size;
  };
  Part taps{0, 0};
  while (taps.begin < axis.taps && !within_source(taps.begin)) ++taps.begin;
  taps.end = taps.begin;
  while (taps.end < axis.taps && within_source(taps.end)) ++taps.end;
  return taps;
}

/// Returns whether a result has so few weights, compared with its places, that reading the weights
/// takes less time than reading the sums. The answer depends on shapes alone, so that it is the
/// same for each part of the work as for the whole.
bool has_few_weights(const Windows& w) {
  // Weights are read one by one, and sums of places in vectors.
  constexpr std::int64_t places_per_weight = 4;
  return places_per_weight * w.channels * w.rows.taps * w.columns.taps <=
         w.samples * w.rows.places * w.columns.places;
}

/// Returns whether all weights of a result are finite. If all weights are finite, no product of a
/// weight with a zero around the source is a NaN.
bool has_finite_weights(const Windows& w, const float* weight) {
  // `others` becomes 1 at an infinity or a NaN, which is not at most the largest number.
  int others = 0;
  for (std::int64_t channel = 0; channel < w.channels; ++channel)
    for (std::int64_t i = 0; i < w.rows.taps; ++i) {
      const float* const taps = weight + channel * w.weight_channel +
                                (w.rows.weight_first + i * w.rows.weight_step) * w.weight_row +
                                w.columns.weight_first;
      for (std::int64_t j = 0; j < w.columns.taps; ++j)
        others |=
            std::fabs(taps[j * w.columns.weight_step]) <= std::numeric_limits<float>::max() ? 0 : 1;
    }
  return others == 0;
}

/// A Row is a row of places of one result in one sample.
struct Row {
  const Windows& w;
  std::int64_t y;
  const float* source;  ///< `source` has the pixels of the sample.
  const float* weight;  ///< `weight` has the weights of the result.
  float* target;        ///< `target` points to the sum of the row's first place.
};

/// Returns the sum of the place's products over the taps that lie within the source. The loop over
/// channels stops at a NaN, because the sum would stay a NaN.
float sum_of_place(const Row& row, std::int64_t x) {
  const WindowAxis &rows = row.w.rows, &columns = row.w.columns;
  const Part row_taps = taps_within(rows, row.y), column_taps = taps_within(columns, x);
  const std::int64_t plane = rows.size * columns.size;
  float sum = 0;
  for (std::int64_t channel = 0; channel < row.w.channels && !std::isnan(sum); ++channel)
    for (std::int64_t i = row_taps.begin; i < row_taps.end; ++i) {
      const std::int64_t pixel_row = rows.first + row.y * rows.step + i * rows.tap_step;
      const float* const pixels = row.source + channel * plane + pixel_row * columns.size +
                                  columns.first + x * columns.step;
      const float* const weights = row.weight + channel * row.w.weight_channel +
                                   (rows.weight_first + i * rows.weight_step) * row.w.weight_row +
                                   columns.weight_first;
      for (std::int64_t j = column_taps.begin; j < column_taps.end; ++j)
        sum += pixels[j * columns.tap_step] * weights[j * columns.weight_step];
    }
  return sum;
}

void sum_again(const Row& row, Part places) {
  for (std::int64_t x = places.begin; x < places.end; ++x) {
    float& sum = row.target[x * row.w.columns.target_step];
    if (std::isnan(sum)) sum = sum_of_place(row, x);
  }
}

/// Returns whether one of `count` neighbouring numbers is NaN. The loop has no early end, so that
/// the compiler can make vectors of it.
bool has_nan(const float* numbers, std::int64_t count) {
  int found = 0;
  for (std::int64_t i = 0; i < count; ++i) found |= numbers[i] != numbers[i] ? 1 : 0;
  return found != 0;
}

/// Computes again the sums that are NaN on the border of one result's plane, in one sample of a
/// band. In the rows of `inner_rows`, the columns of `inner` are not on the border.
void sum_plane_again(const Windows& w, const Band& band, Part inner_rows, Part inner,
                     const float* source, const float* weight, float* target) {
  const bool together =
      w.rows.target_step == 1 && w.columns.target_step == 1 && w.target_row == w.columns.places;
  if (together && !has_nan(target + band.first_row * w.target_row, band.rows * w.columns.places))
    return;  // One look at all sums is quicker than a look at both ends of each row.
  for (std::int64_t y = band.first_row; y < band.first_row + band.rows; ++y) {
    const std::int64_t target_row = w.rows.target_first + y * w.rows.target_step;
    const Row row{w, y, source, weight,
                  target + target_row * w.target_row + w.columns.target_first};
    const bool inside = y >= inner_rows.begin && y < inner_rows.end;
    sum_again(row, {0, inside ? inner.begin : 0});
    sum_again(row, {inside ? inner.end : 0, w.columns.places});
  }
}

}  // namespace

Borders::Borders(const Windows& windows)
    : windows_(windows),
      inner_rows_(inner_places(windows.rows)),
      inner_columns_(inner_places(windows.columns)),
      first_band_(band_at(windows, 0)),
      bands_(band_count(windows)),
      has_few_weights_(has_few_weights(windows)) {
  const std::int64_t inner =
      (inner_rows_.end - inner_rows_.begin) * (inner_columns_.end - inner_columns_.begin);
  const bool multiplies = windows.rows.taps > 0 && windows.columns.taps > 0;
  const bool leaves_zeros_out = convolves_directly(windows) || convolves_by_samples(windows);
  meets_zeros_ =
      multiplies && !leaves_zeros_out && inner != windows.rows.places * windows.columns.places;
}

void Borders::sum_again(Part part, const float* source, const float* weight, float* target) const {
  if (!meets_zeros_) return;
  const Windows& w = windows_;
  for (std::int64_t result = 0; result < w.results; ++result) {
    const Part bands = every(part, w.results, result, bands_);
    const float* const own_weight = weight + result * w.weight_result;
    if (empty(bands) || (has_few_weights_ && has_finite_weights(w, own_weight))) continue;
    for (std::int64_t i = bands.begin; i < bands.end; ++i) {
      const Band band = i == 0 ? first_band_ : band_at(w, i);
      for (std::int64_t s = band.first_sample; s < band.first_sample + band.samples; ++s)
        sum_plane_again(w, band, inner_rows_, inner_columns_, source + s * w.source_sample,
                        own_weight, target + s * w.target_sample + result * w.target_plane);
    }
  }
}

}  // namespace penstock::graph
