// A strip whose last tile is narrower than a panel is computed by the functions of this file.
#include "graph/kernels/products/pack.hpp"
#include "graph/kernels/products/tile.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Copies `rows` rows of `columns` floats.
void copy(const float* from, std::int64_t from_pitch, float* to, std::int64_t to_pitch,
          std::int64_t rows, std::int64_t columns) {
  for (std::int64_t row = 0; row < rows; ++row, from += from_pitch, to += to_pitch)
    copy_floats(columns, from, to);
}

}  // namespace

void multiply_ragged(Strip strip, std::int64_t columns) {
  float sums[most_rows * panel_width], bias[panel_width] = {};
  float* const target = strip.target;
  const std::int64_t pitch = strip.target_pitch;
  if (strip.accumulate) copy(target, pitch, sums, panel_width, strip.rows, columns);
  if (strip.bias_is == Bias::of_columns) {
    copy(strip.bias, 0, bias, 0, 1, columns);
    strip.bias = bias;
  }
  strip.panels = 1;
  strip.vectors = columns > vector_size ? 2 : 1;
  strip.target = sums;
  strip.target_pitch = panel_width;
  multiply_strip(strip);
  copy(sums, panel_width, target, pitch, strip.rows, columns);
}

void multiply_columns(Strip strip, std::int64_t columns) {
  strip.panels = columns / panel_width;
  const std::int64_t whole = strip.panels * panel_width;
  multiply_strip(strip);
  if (whole == columns) return;
  strip.right += strip.panels * strip.right_panel;
  strip.target += whole;
  if (strip.bias_is == Bias::of_columns) strip.bias += whole;
  multiply_ragged(strip, columns - whole);
}

}  // namespace penstock::graph::PENSTOCK_ISA
