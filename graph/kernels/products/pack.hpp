// Blocks of a factor, and the weights of a convolution, are packed in the order in which tiles read
// them: one row of floats for each step of depth. The build compiles these functions once per
// instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/products/windows.hpp"
#include "graph/kernels/vectors/vector.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// A Packed is the target of packing: rows of floats, one for each step of depth.
struct Packed {
  float* data;
  std::int64_t pitch;  ///< This is the number of floats from one step to the next.
};

/// Copies exactly `count` floats, as many at once as possible.
template <int most = vector_size>
[[gnu::always_inline]] inline void copy_floats(std::int64_t count, const float* from, float* to) {
  for (; count >= most; count -= most, from += most, to += most)
    __builtin_memcpy(to, from, sizeof(float) * most);
  if constexpr (most > 1) copy_floats<most / 2>(count, from, to);
}

/// Computes to[step][i] = from[step * pitch + i] for `i` below `count` and `step` below `steps`.
void pack_rows(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
               Packed to);
/// Computes to[step][i] = from[i * pitch + step] for `i` below `count` and `step` below `steps`.
/// Behind the `count` floats of a step, any floats may be written up to the next multiple of
/// `vector_size`.
void pack_columns(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
                  Packed to);

/// Does what pack_columns() does for at most `vector_size` steps, if a whole Vector can be read
/// from each row of `from`.
void pack_short_columns(std::int64_t count, std::int64_t steps, const float* from,
                        std::int64_t pitch, Packed to);

/// Computes to[i * pitch + step] = from[step * from_pitch + i] for `i` below `count` and `step`
/// below `steps`.
void unpack_columns(std::int64_t count, std::int64_t steps, const float* from,
                    std::int64_t from_pitch, float* to, std::int64_t pitch);

/// Computes to[step][i] = from[i * pitch + step] for `i` and `step` below `vector_size`. If `from`
/// has fewer than `vector_size` rows, `count` of them, the last row is repeated.
void transpose_square(std::int64_t count, const float* from, std::int64_t pitch, Packed to);

/// Packs the weights of `rows` planes of the target, from plane `result` on, for the `channels`
/// channels from `channel` on: to[channel][tap][i] becomes the weight of plane `result` + i. The
/// floats of `to` from `rows` up to its pitch may be overwritten.
void pack_weights(const Windows& w, std::int64_t result, std::int64_t rows, std::int64_t channel,
                  std::int64_t channels, const float* weight, Packed to);

/// Packs the weights of a convolution for which packs_panels() is true. ProductKernels says what
/// the arguments are.
void pack_panels(const Windows& w, Part part, const float* weight, float* packed);

}  // namespace penstock::graph::PENSTOCK_ISA
