#include "benchmarks/memory_bandwidth.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "benchmarks/measure.hpp"
#include "benchmarks/on_threads.hpp"

namespace penstock::benchmarks {
namespace {

/// Whole numbers, whose sums may be taken in any order: the compiler makes vectors of them.
std::uint64_t sum(const std::vector<std::uint64_t>& words) {
  std::uint64_t total = 0;
  for (const std::uint64_t word : words) total += word;
  return total;
}

/// GB/s of the best of so many passes.
double best_bandwidth(std::size_t bytes, int passes) {
  const std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t), 1);
  volatile std::uint64_t kept = 0;
  double best = 0;
  for (int pass = 0; pass < passes; ++pass)
    best = std::max(best, static_cast<double>(bytes) / seconds_of([&] { kept = sum(words); }));
  return best * 1e-9;
}

}  // namespace

double memory_bandwidth(int threads) {
  return sum_over_threads(threads, [] { return best_bandwidth(std::size_t{256} << 20, 10); });
}

double cache_bandwidth(std::size_t bytes) {
  return best_bandwidth(bytes, 500);
}

}  // namespace penstock::benchmarks
