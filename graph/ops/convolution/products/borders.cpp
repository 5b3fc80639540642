#include "graph/ops/convolution/products/borders.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "graph/kernels/products/direct.hpp"

namespace penstock::graph {
namespace {

/// Returns the places all of whose taps lie within the source.
Part inner_places(const WindowAxis& axis) {
  const std::int64_t room = axis.size - axis.span - axis.low;
  const std::int64_t before = axis.low < 0 ? (-axis.low + axis.step - 1) / axis.step : 0;
  const std::int64_t end = std::min(room > 0 ? (room - 1) / axis.step + 1 : 0, axis.places);
  return before < end ? Part{before, end} : Part{0, 0};
}

/// Returns the taps of a place that lie within the source.
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

/// Returns whether the weights of a result are few beside its places, so that they are read sooner.
/// That depends on shapes alone: no part of the work finds other sums than the whole.
bool has_few_weights(const Windows& w) {
  constexpr std::int64_t places_per_weight = 4;  // Places are read in vectors.
  return places_per_weight * w.channels * w.rows.taps * w.columns.taps <=
         w.samples * w.rows.places * w.columns.places;
}

/// Returns whether all weights of a result are finite. Zeros around the source then leave no NaN.
bool has_finite_weights(const Windows& w, const float* weight) {
  int others = 0;  // An infinity and a NaN are not below or equal to the largest number.
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

/// Has a row of places of one result, and where their factors and sums lie.
struct Row {
  const Windows& w;
  std::int64_t y;
  const float* source;  ///< Is one sample.
  const float* weight;  ///< Has the weights of the result.
  float* target;        ///< Is the sum of the row's first place.
};

/// Returns the sum of the products that the place really has. It is NaN for good once it is.
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

/// Returns whether one of `count` neighbouring numbers is NaN. There is no early end, which would
/// keep the loop from being made of vectors.
bool has_nan(const float* numbers, std::int64_t count) {
  int found = 0;
  for (std::int64_t i = 0; i < count; ++i) found |= numbers[i] != numbers[i] ? 1 : 0;
  return found != 0;
}

/// Works on the places of one result in one sample of a band. In the rows of `inner_rows`, the
/// columns of `inner` are left out.
void sum_plane_again(const Windows& w, const Band& band, Part inner_rows, Part inner,
                     const float* source, const float* weight, float* target) {
  const bool together =
      w.rows.target_step == 1 && w.columns.target_step == 1 && w.target_row == w.columns.places;
  if (together && !has_nan(target + band.first_row * w.target_row, band.rows * w.columns.places))
    return;  // This is quicker than looking at both ends of each row.
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
  meets_zeros_ = multiplies && !convolves_directly(windows) &&
                 inner != windows.rows.places * windows.columns.places;
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
