// These functions transpose Vectors in registers, or sum each of them. The build compiles them once
// per instruction set.
#pragma once

#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Transposes a square of vector_size Vectors: swaps halves, quarters, and so on across the
/// diagonal.
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

/// Returns the sums of the rows: element i is the sum of rows[i]. The function adds halves,
/// quarters, and so on, and overwrites the rows.
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
