// Products are cut into blocks so that floats that are read again are still in a cache. This header
// says how the blocks are cut, and how much workspace they take. Both are the same for every
// instruction set; the functions are static, so that sources of different instruction sets share
// none of them.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Is the number of steps of depth for which factors are packed, and used, at a time.
inline constexpr std::int64_t depth_block = 256;
/// A block of the right factor that is packed has at most this many floats, which take half of a
/// second-level cache of 1 MB.
inline constexpr std::int64_t right_block_floats = 128 << 10;
/// A factor of more floats than this does not stay in a second-level cache.
inline constexpr std::int64_t cached_floats = 256 << 10;
/// Under every instruction set, multiply_strip() reads at most this many floats per step of a
/// packed left factor, and at most widest_panel floats per step of the right one.
inline constexpr std::int64_t widest_left = 16;
inline constexpr std::int64_t widest_panel = 32;

static constexpr std::int64_t at_most(std::int64_t value, std::int64_t limit) {
  return value < limit ? value : limit;
}
static constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Calls `work(first, size)` for chunks of `count` things. Each has at most `most`, and their sizes
/// are as equal as possible.
template <class Work>
[[gnu::always_inline]] static inline void for_each_chunk(std::int64_t count, std::int64_t most,
                                                         Work work) {
  const std::int64_t chunks = (count + most - 1) / most;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t first = count * chunk / chunks;
    work(first, count * (chunk + 1) / chunks - first);
  }
}

/// Returns how many columns a block has. The whole left factor is multiplied by one block before
/// the next block is packed.
static constexpr std::int64_t column_block(std::int64_t columns, std::int64_t depth) {
  const std::int64_t steps = at_most(depth > 0 ? depth : 1, depth_block);
  const std::int64_t fit = right_block_floats / steps / widest_panel * widest_panel;
  return at_most(round_up(columns, widest_panel), fit);
}

/// The weights of at most this many results of a convolution are packed at once. packed_rows()
/// returns a number of rows that is enough for them under every instruction set: strips have up to
/// 6 results and a pitch of 8, or up to 14 results and a pitch of 16.
inline constexpr std::int64_t results_block = 512;
static constexpr std::int64_t packed_rows(std::int64_t results) {
  return (results + 5) / 6 * 8 + widest_left;
}

/// A product with more rows than this is not computed by multiply_turned(). turned_floats() returns
/// how many floats the packed rows of such a product take; it is 0 if the rows are too many, or too
/// deep for a second-level cache.
inline constexpr std::int64_t turned_rows = 64;
static constexpr std::int64_t turned_floats(std::int64_t rows, std::int64_t depth) {
  const std::int64_t floats = round_up(rows, widest_panel) * depth;
  return rows <= turned_rows && floats <= cached_floats ? floats : 0;
}

/// A product with more rows than this is not computed by multiply_stationary(), which keeps sums in
/// memory while parts of the right factor stay in registers. stationary_columns() returns the
/// number of columns whose sums are kept at a time.
inline constexpr std::int64_t stationary_rows = 64;
static constexpr std::int64_t stationary_columns(std::int64_t rows) {
  return (64 << 10) / rows / widest_panel * widest_panel;
}

/// Says where the regions of the workspace of multiply_stationary() begin, and where the last one
/// ends, in floats: a part of the packed left factor, and sums. All are 0 for a product that the
/// function does not compute, because the rows are too many or a second-level cache keeps the right
/// factor.
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

/// Says where the regions of the workspace of a product with packed factors begin, and where the
/// last one ends, in floats: the packed left factor of one strip, and the packed right factor of a
/// block.
struct PackedWorkspace {
  std::int64_t left, right, end;
};
static constexpr PackedWorkspace packed_workspace(std::int64_t columns, std::int64_t depth) {
  const std::int64_t steps = at_most(depth, depth_block);
  const std::int64_t left = 0, right = left + widest_left * steps;
  return {left, right, right + column_block(columns, depth) * steps};
}

}  // namespace penstock::graph
