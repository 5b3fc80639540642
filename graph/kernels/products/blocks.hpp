// How products are cut so that what is read again is still in a cache, and what that takes of the
// workspace. The same for every instruction set; static, so that none of them shares a function.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Steps of depth whose packed factors are used before the next are packed.
inline constexpr std::int64_t depth_block = 256;
/// Floats of the packed right factor: half of a second-level cache of 1 MB.
inline constexpr std::int64_t right_block_floats = 128 << 10;
/// Factors of more floats are read from farther away than a second-level cache.
inline constexpr std::int64_t cached_floats = 256 << 10;
/// At least what multiply_strip reads per step of a packed left and right factor.
inline constexpr std::int64_t widest_left = 16;
inline constexpr std::int64_t widest_panel = 32;

static constexpr std::int64_t at_most(std::int64_t value, std::int64_t limit) {
  return value < limit ? value : limit;
}
static constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Columns that are multiplied by the whole left factor before the next ones.
static constexpr std::int64_t column_block(std::int64_t columns, std::int64_t depth) {
  const std::int64_t steps = at_most(depth > 0 ? depth : 1, depth_block);
  const std::int64_t fit = right_block_floats / steps / widest_panel * widest_panel;
  return at_most(round_up(columns, widest_panel), fit);
}

/// Results of a convolution whose weights are packed at once, and the rows that packing makes of
/// them: strips have at least 6 results and a pitch of at most a third more.
inline constexpr std::int64_t results_block = 512;
static constexpr std::int64_t packed_rows(std::int64_t results) {
  return (results + 5) / 6 * 8 + widest_left;
}

/// Rows that are packed as a whole where a product is turned around, and the floats of that; none
/// where they are too many or too deep for a second-level cache.
inline constexpr std::int64_t turned_rows = 64;
static constexpr std::int64_t turned_floats(std::int64_t rows, std::int64_t depth) {
  const std::int64_t floats = round_up(rows, widest_panel) * depth;
  return rows <= turned_rows && floats <= cached_floats ? floats : 0;
}

/// Rows that are few enough for all their sums in so many columns to be kept while a part of the
/// right factor rests in registers, and the floats of that, some of the left factor included; none
/// where a second-level cache keeps the right factor.
inline constexpr std::int64_t stationary_rows = 64;
static constexpr std::int64_t stationary_columns(std::int64_t rows) {
  return (64 << 10) / rows / widest_panel * widest_panel;
}
static constexpr std::int64_t stationary_floats(std::int64_t rows, std::int64_t columns,
                                                std::int64_t depth) {
  if (rows <= 0 || rows > stationary_rows || depth * columns <= cached_floats) return 0;
  return rows * (widest_left + at_most(round_up(columns, widest_panel), stationary_columns(rows)));
}

/// Floats of the packed left factor of one strip.
static constexpr std::int64_t left_floats(std::int64_t depth) {
  return widest_left * at_most(depth, depth_block);
}

}  // namespace penstock::graph
