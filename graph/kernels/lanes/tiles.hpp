// Loops of the batch-lane kernels are cut into tiles whose size is a constant of the compiler, so
// that the sums of a tile stay in registers. The build compiles these functions once per
// instruction set.
#pragma once

#include <cstdint>
#include <utility>

#include "graph/kernels/vectors/vector.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// This is the number of lanes of a pixel, and so the number of floats from one pixel to the next.
inline constexpr std::int64_t lanes = 16;

/// Calls `work` with `size`, which is from 1 to `most`, as a constant of the compiler.
template <int most, class Work>
[[gnu::always_inline]] inline void with_constant(std::int64_t size, Work work) {
  if constexpr (most > 1)
    if (size < most) return with_constant<most - 1>(size, work);
  work(std::integral_constant<int, most>());
}

/// Cuts `count` things into as few tiles of at most `most` things as possible, whose sizes are as
/// equal as possible, and calls `work(first, size)` for each tile in order. `size` is a constant of
/// the compiler.
template <int most, class Work>
[[gnu::always_inline]] inline void for_each_tile(std::int64_t count, Work work) {
  const std::int64_t tiles = (count + most - 1) / most;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t first = count * tile / tiles, next = count * (tile + 1) / tiles;
    with_constant<most>(next - first, [&](auto size) { work(first, size); });
  }
}

/// Calls `work(V{}, lane)` for the Vectors V that cover the first `active` of 16 lanes; `lane` is
/// the lane at which a Vector begins. If `half_vectors_pay` is true, V is HalfVector at the end
/// wherever half a Vector covers the lanes that are left.
template <class Work>
[[gnu::always_inline]] inline void for_each_vector(std::int64_t active, Work work) {
  std::int64_t lane = 0;
  for (; active - lane > (half_vectors_pay ? vector_size / 2 : 0); lane += vector_size)
    work(Vector{}, lane);
  if constexpr (half_vectors_pay)
    if (active > lane) work(HalfVector{}, lane);
}

/// Returns the first lane that the Vectors of for_each_vector(active) do not cover.
inline std::int64_t reached_lanes(std::int64_t active) {
  constexpr std::int64_t step = half_vectors_pay ? vector_size / 2 : vector_size;
  return (active + step - 1) / step * step;
}

/// Returns how many blocks of samples hold `samples` samples.
inline std::int64_t blocks_of(std::int64_t samples) {
  return (samples + lanes - 1) / lanes;
}

/// Sets the lanes from `first` on to zero in `pixels` neighbouring pixels.
template <class Element>
inline void clear_lanes(std::int64_t first, std::int64_t pixels, Element* values) {
  if (first == lanes) return;
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
    for (std::int64_t lane = first; lane < lanes; ++lane) values[pixel * lanes + lane] = 0;
}

/// Planes are `count` planes, each of which has `pixels` pixels in rows of `width`.
struct Planes {
  std::int64_t count, pixels, width;
};

/// Sets the lanes from `first` on to zero in the rows `rows` of every plane.
template <class Element>
inline void clear_rows(std::int64_t first, Part rows, const Planes& planes, Element* values) {
  for (std::int64_t plane = 0; plane < planes.count; ++plane)
    clear_lanes(first, (rows.end - rows.begin) * planes.width,
                values + (plane * planes.pixels + rows.begin * planes.width) * lanes);
}

/// Returns how many lanes of block number `block` hold samples, if there are `samples` samples in
/// all.
inline std::int64_t active_lanes(std::int64_t samples, std::int64_t block) {
  const std::int64_t left = samples - block * lanes;
  return left < lanes ? left : lanes;
}

}  // namespace penstock::graph::PENSTOCK_ISA
