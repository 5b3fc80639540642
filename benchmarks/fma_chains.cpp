#include "benchmarks/fma_chains.hpp"

#include "graph/kernels/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

/// Enough independent chains to hide an addition's latency in two pipes.
constexpr int chain_count = 12;

float run(std::int64_t rounds) {
  Vector sums[chain_count];
  unrolled<chain_count>([&](auto i) { sums[i] = broadcast(static_cast<float>(i)); });
  const Vector factor = broadcast(0.5f);
  for (std::int64_t round = 0; round < rounds; ++round)
    unrolled<chain_count>([&](auto i) { sums[i] = sums[i] * factor + factor; });
  Vector total{};
  unrolled<chain_count>([&](auto i) { total += sums[i]; });
  return total[0];
}

}  // namespace

extern const benchmarks::Chains chains;
const benchmarks::Chains chains{2 * chain_count * vector_size, run};

}  // namespace penstock::graph::PENSTOCK_ISA
