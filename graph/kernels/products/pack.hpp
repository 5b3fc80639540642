// Copies of a factor's parts in the order in which multiply_tile reads them: step by step of depth.
// Compiled once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Rows of floats side by side, one per step.
struct Packed {
  float* data;
  std::int64_t pitch;  ///< floats from one step to the next
};

/// Exactly `count` floats, in the largest pieces that there are.
template <int piece = vector_size>
[[gnu::always_inline]] inline void copy_floats(std::int64_t count, const float* from, float* to) {
  for (; count >= piece; count -= piece, from += piece, to += piece)
    __builtin_memcpy(to, from, sizeof(float) * piece);
  if constexpr (piece > 1) copy_floats<piece / 2>(count, from, to);
}

/// to[step][i] = from[step * pitch + i]
void pack_rows(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
               Packed to);
/// to[step][i] = from[i * pitch + step], and anything up to the next multiple of vector_size.
void pack_columns(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
                  Packed to);

/// The same for at most vector_size steps, where from each row a Vector can be read.
void pack_short_columns(std::int64_t count, std::int64_t steps, const float* from,
                        std::int64_t pitch, Packed to);

/// to[i * pitch + step] = from[step * from_pitch + i]
void unpack_columns(std::int64_t count, std::int64_t steps, const float* from,
                    std::int64_t from_pitch, float* to, std::int64_t pitch);

/// The square to[step][i] = from[i * pitch + step] of vector_size steps; where there are fewer than
/// vector_size rows, the last of them again and again.
void transpose_square(std::int64_t count, const float* from, std::int64_t pitch, Packed to);

}  // namespace penstock::graph::PENSTOCK_ISA
