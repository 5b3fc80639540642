// The factors of matrix products are cut into blocks, so that floats that are read again are still
// in a cache. This header says how the blocks are cut, and how much workspace they take, which is
// the same for every instruction set. The functions are static, so that sources compiled for
// different instruction sets share none of them.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Factors are packed, and then used, for this many steps of depth at a time.
inline constexpr std::int64_t depth_block = 256;
/// A packed block of the right factor has at most this many floats, which take half of a
/// second-level cache of 1 MB.
inline constexpr std::int64_t right_block_floats = 128 << 10;
/// A factor that has more floats than this does not stay in a second-level cache.
inline constexpr std::int64_t cached_floats = 256 << 10;
/// For each step of depth, multiply_strip() reads at most `widest_left` floats of a packed left
/// factor and at most `widest_panel` floats of the right factor, under every instruction set.
inline constexpr std::int64_t widest_left = 16;
inline constexpr std::int64_t widest_panel = 32;

static constexpr std::int64_t at_most(std::int64_t value, std::int64_t limit) {
  return value < limit ? value : limit;
}
static constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Cuts `count` things into as few chunks of at most `most` things as possible, whose sizes are as
/// equal as possible, and calls `work(first, size)` for each chunk in order.
template <class Work>
[[gnu::always_inline]] static inline void for_each_chunk(std::int64_t count, std::int64_t most,
                                                         Work work) {
  const std::int64_t chunks = (count + most - 1) / most;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t first = count * chunk / chunks;
    work(first, count * (chunk + 1) / chunks - first);
  }
}

/// Returns how many columns a block of the right factor has. All rows of a part are multiplied by
/// one packed block before the next block is packed.
static constexpr std::int64_t column_block(std::int64_t columns, std::int64_t depth) {
  const std::int64_t steps = at_most(depth > 0 ? depth : 1, depth_block);
  const std::int64_t fit = right_block_floats / steps / widest_panel * widest_panel;
  return at_most(round_up(columns, widest_panel), fit);
}

/// A convolution packs the weights of at most this many planes of the target at once. packed_rows()
/// returns how many floats per step of depth they take at most under any instruction set: the
/// strips that multiply them have up to 6 rows, which take 8 floats, or up to 14 rows, which take
/// 16.
inline constexpr std::int64_t results_block = 512;
static constexpr std::int64_t packed_rows(std::int64_t results) {
  return (results + 5) / 6 * 8 + widest_left;
}

/// A product with more rows than this is not computed by multiply_turned(). turned_floats() returns
/// how many floats the packed rows of a product take, or 0 if multiply_turned() does not compute
/// it: because it has too many rows, or because their floats do not fit into a second-level cache.
inline constexpr std::int64_t turned_rows = 64;
static constexpr std::int64_t turned_floats(std::int64_t rows, std::int64_t depth) {
  const std::int64_t floats = round_up(rows, widest_panel) * depth;
  return rows <= turned_rows && floats <= cached_floats ? floats : 0;
}

/// A product with more rows than this is not computed by multiply_stationary(), which keeps sums in
/// memory while parts of the right factor stay in registers. stationary_columns() returns how many
/// columns have their sums kept at a time.
inline constexpr std::int64_t stationary_rows = 64;
static constexpr std::int64_t stationary_columns(std::int64_t rows) {
  return (64 << 10) / rows / widest_panel * widest_panel;
}

/// This is the workspace of multiply_stationary(). `left` and `sums` are where the regions for a
/// part of the packed left factor and for the sums begin, and `end` is where the last region ends,
/// in floats. All are 0 for a product that multiply_stationary() does not compute: because it has
/// too many rows, or because a second-level cache keeps its right factor.
struct StationaryWorkspace {
  std::int64_t left, sums, end;
};
static constexpr StationaryWorkspace stationary_workspace(std::int64_t rows, std::int64_t columns,
                                                          std::int64_t depth) {
  if (rows <= 0 || rows > stationary_rows || depth * columns <= cached_floats) return {0, 0, 0};
  const std::int64_t left = 0, sums = left + rows * widest_left;
  return {left, sums,
          sums + rows * at_most(round_up(columns, widest_panel), stationary_columns(rows))};
}

/// This is the workspace of a product whose factors are packed. `left` and `right` are where the
/// regions for the packed left factor of one strip and for a packed block of the right factor
/// begin, and `end` is where the last region ends, in floats.
struct PackedWorkspace {
  std::int64_t left, right, end;
};
static constexpr PackedWorkspace packed_workspace(std::int64_t columns, std::int64_t depth) {
  const std::int64_t steps = at_most(depth, depth_block);
  const std::int64_t left = 0, right = left + widest_left * steps;
  return {left, right, right + column_block(columns, depth) * steps};
}

}  // namespace penstock::graph
