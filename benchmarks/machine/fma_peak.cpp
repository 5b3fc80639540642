#include "benchmarks/machine/fma_peak.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "benchmarks/machine/loops.hpp"
#include "benchmarks/machine/on_threads.hpp"
#include "benchmarks/measuring/measure.hpp"

namespace penstock::benchmarks {
namespace {

/// Returns the GFLOP/s of one run, which takes some 20 microseconds.
double speed_of(const Loops& loops) {
  constexpr std::int64_t rounds = 10'000;
  volatile float kept = 0;
  const double seconds = seconds_of([&] { kept = loops.multiply_add(rounds); });
  return static_cast<double>(rounds * loops.flops_per_round) / seconds * 1e-9;
}

}  // namespace

double fma_peak(graph::Isa isa, int threads) {
  return sum_over_threads(threads, [isa] {
    double best = 0;
    for (int run = 0; run < 5'000; ++run) best = std::max(best, speed_of(loops(isa)));
    return best;
  });
}

double fma_peak_now(graph::Isa isa) {
  std::vector<double> speeds;
  for (int run = 0; run < 250; ++run) speeds.push_back(speed_of(loops(isa)));
  return median(speeds);
}

}  // namespace penstock::benchmarks
