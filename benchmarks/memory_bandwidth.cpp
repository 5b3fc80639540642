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

}  // namespace

double memory_bandwidth(int threads) {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  return sum_over_threads(threads, [] {
    const std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t), 1);
    volatile std::uint64_t kept = 0;
    double best = 0;
    for (int pass = 0; pass < 10; ++pass)
      best = std::max(best, static_cast<double>(bytes) / seconds_of([&] { kept = sum(words); }));
    return best * 1e-9;
  });
}

}  // namespace penstock::benchmarks
