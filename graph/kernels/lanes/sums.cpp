#include "graph/kernels/lanes/sums.hpp"

#include "graph/kernels/lanes/tiles.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Returns a Vector whose element i is the sum of the lanes i, i + stride, i + 2*stride and so on,
/// up to lane 15.
template <int stride = vector_size>
Vector folded(const float* values) {
  if constexpr (stride == lanes)
    return load(values);
  else
    return folded<stride * 2>(values) + folded<stride * 2>(values + stride);
}

/// Returns a Vector whose element i is the sum of the elements of parts[i]. `parts` has
/// `vector_size` Vectors at first. Each call adds halves of them to each other, so that 2*distance
/// Vectors become `distance` Vectors, until one is left.
template <int distance>
Vector merged(Vector* parts) {
  unrolled<distance>([&](auto i) {
    parts[i] = low_halves<distance>(parts[i], parts[i + distance]) +
               high_halves<distance>(parts[i], parts[i + distance]);
  });
  if constexpr (distance > 1)
    return merged<distance / 2>(parts);
  else
    return parts[0];
}

float sum(const float* values) {
  float parts[lanes];
  __builtin_memcpy(parts, values, sizeof parts);
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    for (int i = 0; i < distance; ++i) parts[i] += parts[i + distance];
  return parts[0];
}

}  // namespace

void sum_lanes(std::int64_t count, const float* values, float* sums) {
  for (std::int64_t i = 0; i < count && count >= vector_size; i += vector_size) {
    // The last Vector of sums overlaps the Vector before it, so that nothing is written past the
    // end.
    if (i + vector_size > count) i = count - vector_size;
    Vector parts[vector_size];
    unrolled<vector_size>([&](auto part) { parts[part] = folded(values + (i + part) * lanes); });
    store(sums + i, merged<vector_size / 2>(parts));
  }
  for (std::int64_t i = 0; i < count && count < vector_size; ++i) sums[i] = sum(values + i * lanes);
}

namespace {

constexpr int vectors = lanes / vector_size;
/// This many channels are summed at a time. Their sums are independent of each other, so that the
/// CPU can go on with one sum while it waits for the result of another.
constexpr int most_channels = many_registers ? 4 : 2;

/// Adds `rows` neighbouring rows of `channels` neighbouring channels to `sums`, column by column.
template <int rows, int channels>
[[gnu::always_inline]] inline void add_rows(const LanePlanes& planes, const float* x,
                                            Vector (&sums)[channels][vectors]) {
  const std::int64_t row_floats = planes.width * lanes, plane = planes.height * row_floats;
  for (std::int64_t column = 0; column < planes.width; ++column, x += lanes)
    unrolled<channels * vectors>([&](auto i) {
      const float* const pixel = x + i / vectors * plane + i % vectors * vector_size;
      Vector pair = load(pixel);
      if constexpr (rows == 2) pair += load(pixel + row_floats);
      sums[i / vectors][i % vectors] += pair;
    });
}

template <int channels>
[[gnu::noinline]] void add_block(const LanePlanes& planes, const float* x,
                                 Vector (&all)[channels][vectors]) {
  const std::int64_t row_floats = planes.width * lanes;
  Vector sums[channels][vectors];
  __builtin_memcpy(sums, all, sizeof sums);
  std::int64_t row = 0;
  for (; row + 1 < planes.height; row += 2, x += 2 * row_floats) add_rows<2>(planes, x, sums);
  if (row < planes.height) add_rows<1>(planes, x, sums);
  __builtin_memcpy(all, sums, sizeof sums);
}

/// Computes `sums` of `channels` neighbouring channels over all blocks of samples.
template <int channels>
void sum_channels(const LanePlanes& planes, const float* x, float* sums) {
  const std::int64_t block_floats = planes.channels * planes.height * planes.width * lanes;
  Vector by_lane[channels][vectors] = {};
  for (std::int64_t block = 0; block < planes.blocks; ++block, x += block_floats)
    add_block(planes, x, by_lane);
  float values[channels * lanes];
  __builtin_memcpy(values, by_lane, sizeof values);
  sum_lanes(channels, values, sums);
}

}  // namespace

void channel_sums(const LanePlanes& planes, Part part, const float* x, float* sums) {
  const auto [begin, end] = within(part, planes.channels);
  for_each_tile<most_channels>(end - begin, [&, begin = begin](std::int64_t first, auto channels) {
    const std::int64_t channel = begin + first;
    sum_channels<channels>(planes, x + channel * planes.height * planes.width * lanes,
                           sums + channel);
  });
}

}  // namespace penstock::graph::PENSTOCK_ISA
