// What it costs to keep less on the IPUs: mnist-cnn trained in its own topology, with and without.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::benchmarks {

struct MemoryCost {
  std::string means;            ///< by which memory is saved
  double times = 1;             ///< as long as without, medians of alternating runs
  std::int64_t bytes_less = 0;  ///< peaks of all stages together
};

std::vector<MemoryCost> memory_costs(int rounds);

}  // namespace penstock::benchmarks
