#include "graph/kernels/lanes/channel_sums.hpp"

#include "graph/kernels/lanes/sum_lanes.hpp"
#include "graph/kernels/lanes/tiles.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr int vectors = lanes / vector_size;
/// The sums of these channels are independent of each other, so that the CPU need not wait.
constexpr int most_channels = many_registers ? 4 : 2;

/// Adds up neighbouring rows of neighbouring channels, column by column.
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

/// Sums `channels` neighbouring channels over all blocks.
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
