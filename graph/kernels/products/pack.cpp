#include "graph/kernels/products/pack.hpp"

#include "graph/kernels/products/blocks.hpp"
#include "graph/kernels/vectors/square.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Copies rows of `vectors` Vectors.
template <int vectors>
void copy_rows(std::int64_t steps, const float* from, std::int64_t pitch, Packed to) {
  for (std::int64_t step = 0; step < steps; ++step, from += pitch, to.data += to.pitch)
    unrolled<vectors>(
        [&](auto v) { store(to.data + v * vector_size, load(from + v * vector_size)); });
}

void transpose_band(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
                    Packed to) {
  std::int64_t step = 0;
  for (; step + vector_size <= steps; step += vector_size)
    transpose_square(count, from + step, pitch, {to.data + step * to.pitch, to.pitch});
  for (; step < steps; ++step)
    for (std::int64_t i = 0; i < at_most(count, vector_size); ++i)
      to.data[step * to.pitch + i] = from[i * pitch + step];
}

/// Loads the rows of a square, transposed. If there are fewer than vector_size rows, the last one
/// is repeated.
[[gnu::always_inline]] inline void load_transposed(std::int64_t count, const float* from,
                                                   std::int64_t pitch,
                                                   Vector (&rows)[vector_size]) {
  unrolled<vector_size>(
      [&](auto i) { rows[i] = load(from + (i < count ? i : count - 1) * pitch); });
  transpose(rows);
}

/// Unpacks at most vector_size columns; the last square of each overlaps the one before it.
void unpack_band(std::int64_t count, std::int64_t steps, const float* from, std::int64_t from_pitch,
                 float* to, std::int64_t pitch) {
  if (steps < vector_size) {
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t step = 0; step < steps; ++step)
        to[i * pitch + step] = from[step * from_pitch + i];
    return;
  }
  for (std::int64_t step = 0; step < steps; step += vector_size) {
    const std::int64_t first = at_most(step, steps - vector_size);
    Vector rows[vector_size];
    load_transposed(vector_size, from + first * from_pitch, from_pitch, rows);
    if (count == vector_size)
      unrolled<vector_size>([&](auto i) { store(to + i * pitch + first, rows[i]); });
    else
      unrolled<vector_size>([&](auto i) {
        if (i < count) store(to + i * pitch + first, rows[i]);
      });
  }
}

}  // namespace

void transpose_square(std::int64_t count, const float* from, std::int64_t pitch, Packed to) {
  Vector rows[vector_size];
  load_transposed(count, from, pitch, rows);
  unrolled<vector_size>([&](auto i) { store(to.data + i * to.pitch, rows[i]); });
}

void pack_short_columns(std::int64_t count, std::int64_t steps, const float* from,
                        std::int64_t pitch, Packed to) {
  for (std::int64_t i = 0; i < count; i += vector_size) {
    Vector rows[vector_size];
    load_transposed(count - i, from + i * pitch, pitch, rows);
    unrolled<vector_size>([&](auto step) {
      if (step < steps) store(to.data + step * to.pitch + i, rows[step]);
    });
  }
}

void pack_rows(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
               Packed to) {
  if (count == 2 * vector_size) return copy_rows<2>(steps, from, pitch, to);
  if (count == vector_size) return copy_rows<1>(steps, from, pitch, to);
  for (std::int64_t step = 0; step < steps; ++step, from += pitch, to.data += to.pitch)
    copy_floats(count, from, to.data);
}

void pack_columns(std::int64_t count, std::int64_t steps, const float* from, std::int64_t pitch,
                  Packed to) {
  for (std::int64_t i = 0; i < count; i += vector_size)
    transpose_band(count - i, steps, from + i * pitch, pitch, {to.data + i, to.pitch});
}

void unpack_columns(std::int64_t count, std::int64_t steps, const float* from,
                    std::int64_t from_pitch, float* to, std::int64_t pitch) {
  for (std::int64_t i = 0; i < count; i += vector_size)
    unpack_band(at_most(count - i, vector_size), steps, from + i, from_pitch, to + i * pitch,
                pitch);
}

}  // namespace penstock::graph::PENSTOCK_ISA
