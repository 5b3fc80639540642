// These functions work on a square in registers, which is `vector_size` Vectors: they transpose it,
// or sum the elements of each Vector. The build compiles them once per instruction set.
#pragma once

#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Transposes a square. The function first swaps halves of the Vectors across the diagonal, then
/// quarters, and so on to single elements.
template <int distance = vector_size / 2>
[[gnu::always_inline]] inline void transpose(Vector (&rows)[vector_size]) {
  unrolled<vector_size>([&](auto i) {
    if constexpr ((i & distance) == 0) {
      const Vector a = rows[i], b = rows[i + distance];
      rows[i] = low_halves<distance>(a, b);
      rows[i + distance] = high_halves<distance>(a, b);
    }
  });
  if constexpr (distance > 1) transpose<distance / 2>(rows);
}

/// Loads `count` rows of a Vector each, which are `pitch` floats apart, and transposes them. If
/// `count` is less than `vector_size`, the last row is repeated.
[[gnu::always_inline]] inline void load_transposed(std::int64_t count, const float* from,
                                                   std::int64_t pitch,
                                                   Vector (&rows)[vector_size]) {
  unrolled<vector_size>(
      [&](auto i) { rows[i] = load(from + (i < count ? i : count - 1) * pitch); });
  transpose(rows);
}

/// Returns a Vector whose element i is the sum of the elements of rows[i]. The function adds halves
/// of the Vectors, then quarters, and so on, and overwrites `rows`.
template <int distance = vector_size / 2>
[[gnu::always_inline]] inline Vector sum_of_each(Vector (&rows)[vector_size]) {
  unrolled<distance>([&](auto i) {
    const Vector a = rows[i], b = rows[i + distance];
    rows[i] = low_halves<distance>(a, b) + high_halves<distance>(a, b);
  });
  if constexpr (distance > 1)
    return sum_of_each<distance / 2>(rows);
  else
    return rows[0];
}

}  // namespace penstock::graph::PENSTOCK_ISA
