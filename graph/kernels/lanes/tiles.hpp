// Cutting loops into tiles whose size is a constant, so that a tile's sums stay in registers.
// Compiled once per instruction set.
#pragma once

#include <cstdint>
#include <utility>

namespace penstock::graph::PENSTOCK_ISA {

/// Floats from one pixel to the next in the same channel.
inline constexpr std::int64_t lanes = 16;

/// Calls `work` with `size`, which is from 1 to `most`, as a constant.
template <int most, class Work>
[[gnu::always_inline]] inline void with_constant(std::int64_t size, Work work) {
  if constexpr (most > 1)
    if (size < most) return with_constant<most - 1>(size, work);
  work(std::integral_constant<int, most>());
}

/// Cuts `count` things into as few tiles of at most `most` as possible, their sizes as equal as
/// possible, and calls `work(first, size)` for each in order, `size` being a constant.
template <int most, class Work>
[[gnu::always_inline]] inline void for_each_tile(std::int64_t count, Work work) {
  const std::int64_t tiles = (count + most - 1) / most;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t first = count * tile / tiles, next = count * (tile + 1) / tiles;
    with_constant<most>(next - first, [&](auto size) { work(first, size); });
  }
}

}  // namespace penstock::graph::PENSTOCK_ISA
