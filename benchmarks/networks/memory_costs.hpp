// This says what it costs to keep less on the IPUs: mnist-cnn's four stages are trained with and
// without each means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::benchmarks {

struct MemoryCost {
  std::string means;  ///< Names what saves the memory.
  /// Says how many times as long a step takes as without the means, by medians of alternating runs.
  double times = 1;
  /// Says how much longer an update of all stages and replicas works, loads of weights included.
  double update_microseconds = 0;
  std::int64_t bytes_less = 0;  ///< Says by how much the IPUs' peaks are less, all together.
};

std::vector<MemoryCost> memory_costs(int rounds);

/// Returns how many times as long a step takes if the model records what its IPUs do, by medians of
/// alternating runs.
double recording_cost(int rounds);

}  // namespace penstock::benchmarks
