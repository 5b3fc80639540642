// Parts of a factor are packed in the order in which multiply_tile reads them: step by step of
// depth. The build compiles these functions once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Holds rows of floats, one row per step.
struct Packed {
  float* data;
  std::int64_t pitch;  ///< One step and the next are this many floats apart.
};

/// Copies exactly `count` floats, in the largest pieces possible.
template <int piece = vector_size>
[[gnu::always_inline]] inline void copy_floats(std::int64_t count, const float* from, float* to) {
  for (; count >= piece; count -= piece, from += piece, to += piece)
    __builtin_memcpy(to, from, sizeof(float) * piece);
  if constexpr (piece > 1) copy_floats<piece / 2>(count, from, to);
}

/// Computes to[step][i] = from[step * pitch + i].
void pack_rows(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
               Packed to);
/// Computes to[step][i] = from[i * pitch + step]; anything may be written up to the next multiple
/// of vector_size.
void pack_columns(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
                  Packed to);

/// Does what pack_columns() does for at most vector_size steps, where a whole Vector can be read
/// from each row.
void pack_short_columns(std::int64_t count, std::int64_t steps, const float* from,
                        std::int64_t pitch, Packed to);

/// Computes to[i * pitch + step] = from[step * from_pitch + i].
void unpack_columns(std::int64_t count, std::int64_t steps, const float* from,
                    std::int64_t from_pitch, float* to, std::int64_t pitch);

/// Computes the square to[step][i] = from[i * pitch + step] of vector_size steps. If there are
/// fewer than vector_size rows, the last one is repeated.
void transpose_square(std::int64_t count, const float* from, std::int64_t pitch, Packed to);

}  // namespace penstock::graph::PENSTOCK_ISA
