#include "graph/kernels/lanes/transpose.hpp"

#include "graph/kernels/lanes/tiles.hpp"
#include "graph/kernels/vectors/square.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Writes columns `first` to `first + vector_size` of `samples` rows, of which there are at most
/// vector_size, as rows of lanes.
void square_to_lanes(std::int64_t samples, std::int64_t length, const float* x, float* to) {
  Vector rows[vector_size];
  unrolled<vector_size>([&](auto i) { rows[i] = i < samples ? load(x + i * length) : Vector{}; });
  transpose(rows);
  unrolled<vector_size>([&](auto i) { store(to + i * lanes, rows[i]); });
}

void square_from_lanes(std::int64_t samples, std::int64_t length, const float* from, float* x) {
  Vector rows[vector_size];
  unrolled<vector_size>([&](auto i) { rows[i] = load(from + i * lanes); });
  transpose(rows);
  unrolled<vector_size>([&](auto i) {
    if (i < samples) store(x + i * length, rows[i]);
  });
}

/// Converts up to vector_size samples of a block, whose lanes begin at `to`.
void part_to_lanes(std::int64_t samples, std::int64_t length, const float* x, float* to) {
  std::int64_t column = 0;
  for (; column + vector_size <= length; column += vector_size)
    square_to_lanes(samples, length, x + column, to + column * lanes);
  for (; column < length; ++column)
    for (std::int64_t i = 0; i < vector_size; ++i)
      to[column * lanes + i] = i < samples ? x[i * length + column] : 0.0f;
}

void part_from_lanes(std::int64_t samples, std::int64_t length, const float* from, float* x) {
  std::int64_t column = 0;
  for (; column + vector_size <= length; column += vector_size)
    square_from_lanes(samples, length, from + column * lanes, x + column);
  for (; column < length; ++column)
    for (std::int64_t i = 0; i < vector_size && i < samples; ++i)
      x[i * length + column] = from[column * lanes + i];
}

/// Calls `work(first, left, offset)` for every vector_size lanes of every block: `first` is the
/// first sample in the lanes, `left` how many samples there are from it on, and `offset` where the
/// lanes begin.
template <class Work>
void for_each_part(std::int64_t samples, std::int64_t length, Work work) {
  for (std::int64_t block = 0; block * lanes < samples; ++block)
    for (std::int64_t lane = 0; lane < lanes; lane += vector_size)
      work(block * lanes + lane, samples - block * lanes - lane, block * lanes * length + lane);
}

}  // namespace

void to_lanes(std::int64_t samples, std::int64_t length, const float* x, float* to) {
  for_each_part(samples, length, [&](std::int64_t first, std::int64_t left, std::int64_t offset) {
    part_to_lanes(left, length, x + first * length, to + offset);
  });
}

void from_lanes(std::int64_t samples, std::int64_t length, const float* from, float* x) {
  for_each_part(samples, length, [&](std::int64_t first, std::int64_t left, std::int64_t offset) {
    part_from_lanes(left, length, from + offset, x + first * length);
  });
}

}  // namespace penstock::graph::PENSTOCK_ISA
