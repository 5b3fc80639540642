#include "benchmarks/machine/loops.hpp"
#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// So many independent chains are enough to hide an addition's latency in two pipes.
constexpr int chain_count = 12;

float multiply_add(std::int64_t rounds) {
  Vector sums[chain_count];
  unrolled<chain_count>([&](auto i) { sums[i] = broadcast(static_cast<float>(i)); });
  const Vector factor = broadcast(0.5f);
  for (std::int64_t round = 0; round < rounds; ++round)
    unrolled<chain_count>([&](auto i) { sums[i] = sums[i] * factor + factor; });
  Vector total{};
  unrolled<chain_count>([&](auto i) { total += sums[i]; });
  return total[0];
}

/// Memory is read at this many places side by side. A core prefetches at each place, and so fetches
/// more than it would at one place.
constexpr int stream_count = 8;
constexpr int line = 64 / sizeof(float);

/// Calls `work` for each vector of a cache line, with the position in the line of the vector's
/// first float.
template <class Work>
[[gnu::always_inline]] inline void each_of_line(Work work) {
  unrolled<line / vector_size>([&](auto i) { work(i * vector_size); });
}

float read(const float* from, std::int64_t count) {
  const std::int64_t distance = count / stream_count;
  Vector sums[stream_count]{};
  for (std::int64_t at = 0; at < distance; at += line)
    unrolled<stream_count>([&](auto stream) {
      each_of_line([&](int i) { sums[stream] += load(from + stream * distance + at + i); });
    });
  Vector total{};
  unrolled<stream_count>([&](auto stream) { total += sums[stream]; });
  return total[0];
}

void write(float* to, std::int64_t count, float value) {
  for (std::int64_t at = 0; at < count; at += line)
    each_of_line([&](int i) { store(to + at + i, broadcast(value)); });
}

}  // namespace

extern const benchmarks::Loops loops;
const benchmarks::Loops loops{2 * chain_count * vector_size, multiply_add, stream_count* line, read,
                              write};

}  // namespace penstock::graph::PENSTOCK_ISA
