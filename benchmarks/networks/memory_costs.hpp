// What it costs to keep less on the IPUs: mnist-cnn's four stages trained with and without each
// means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::benchmarks {

struct MemoryCost {
  std::string means;  ///< by which memory is saved
  double times = 1;   ///< as long as without, medians of alternating runs
  /// Longer by which an update of all stages and replicas works, loads of weights included.
  double update_microseconds = 0;
  std::int64_t bytes_less = 0;  ///< of the IPUs' peaks, all together
};

std::vector<MemoryCost> memory_costs(int rounds);

}  // namespace penstock::benchmarks
