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

}  // namespace

double fma_peak(graph::Isa isa, int threads) {
  constexpr std::int64_t rounds = 10'000;
  const Chains& chains = chains_for(isa);
  return sum_over_threads(threads, [&] {
    volatile float kept = 0;
    double best = 0;
    for (int run = 0; run < 5'000; ++run) {
      const double seconds = seconds_of([&] { kept = chains.run(rounds); });
      best = std::max(best, static_cast<double>(rounds * chains.flops_per_round) / seconds);
    }
    return best * 1e-9;
  });
}

}  // namespace penstock::benchmarks
