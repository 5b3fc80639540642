#include "benchmarks/fma_peak.hpp"

#include <algorithm>
#include <cstdint>

#include "benchmarks/fma_chains.hpp"
#include "benchmarks/measure.hpp"
#include "benchmarks/on_threads.hpp"

namespace penstock::graph {

namespace portable {
extern const benchmarks::Chains chains;
}
#if defined(__x86_64__)
namespace avx2 {
extern const benchmarks::Chains chains;
}
namespace avx512 {
extern const benchmarks::Chains chains;
}
#endif

}  // namespace penstock::graph

namespace penstock::benchmarks {
namespace {

const Chains& chains_for([[maybe_unused]] graph::Isa isa) {
#if defined(__x86_64__)
  if (isa == graph::Isa::avx512) return graph::avx512::chains;
  if (isa == graph::Isa::avx2) return graph::avx2::chains;
#endif
  return graph::portable::chains;
}

/// GFLOP/s of so many rounds.
double speed_of(const Chains& chains, std::int64_t rounds) {
  volatile float kept = 0;
  const double seconds = seconds_of([&] { kept = chains.run(rounds); });
  return static_cast<double>(rounds * chains.flops_per_round) / seconds * 1e-9;
}

}  // namespace

double fma_burst(graph::Isa isa) {
  double best = 0;  // the widest registers take some microseconds to wake up
  for (int run = 0; run < 16; ++run) best = std::max(best, speed_of(chains_for(isa), 2'000));
  return best;
}

double fma_peak(graph::Isa isa, int threads) {
  constexpr std::int64_t rounds = 10'000;
  const Chains& chains = chains_for(isa);
  return sum_over_threads(threads, [&] {
    double best = 0;
    for (int run = 0; run < 5'000; ++run) best = std::max(best, speed_of(chains, rounds));
    return best;
  });
}

}  // namespace penstock::benchmarks
