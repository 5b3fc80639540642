// Blocks of a factor, and the weights of a convolution, are packed in the order in which tiles read
// them: step by step of depth. The build compiles these functions once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/products/windows.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Holds rows of floats, one row per step.
struct Packed {
  float* data;
  std::int64_t pitch;  ///< Is the number of floats from one step to the next.
};

/// Copies exactly `count` floats, as many at once as possible.
template <int most = vector_size>
[[gnu::always_inline]] inline void copy_floats(std::int64_t count, const float* from, float* to) {
  for (; count >= most; count -= most, from += most, to += most)
    __builtin_memcpy(to, from, sizeof(float) * most);
  if constexpr (most > 1) copy_floats<most / 2>(count, from, to);
}

/// Computes to[step][i] = from[step * pitch + i].
void pack_rows(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
               Packed to);
/// Computes to[step][i] = from[i * pitch + step]. Behind these `count` floats of a step, any floats
/// may be written up to the next multiple of vector_size.
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

/// Writes to[channel][tap][i], the weights of result `result` + i, for i below `rows` and for
/// `channels` channels from `channel` on. The floats between `rows` and the pitch may be
/// overwritten.
void pack_weights(const Windows& w, std::int64_t result, std::int64_t rows, std::int64_t channel,
                  std::int64_t channels, const float* weight, Packed to);

}  // namespace penstock::graph::PENSTOCK_ISA
