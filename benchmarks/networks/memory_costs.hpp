// memory_costs() says what it costs to keep less on the IPUs: mnist-cnn's four stages are trained
// with and without each means that saves memory, a frozen body among them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::benchmarks {

struct MemoryCost {
  std::string means;  ///< `means` is the name of the means that saves the memory.
  /// `times` is the time of a step with the means divided by the time of a step without it, by
  /// medians of alternating runs.
  double times = 1;
  /// A weight update takes this much longer with the means, summed over all IPUs. Loads of weights
  /// count as part of the update.
  double update_microseconds = 0;
  std::int64_t bytes_less = 0;  ///< The sum of the IPUs' peaks is less by this many bytes.
};

std::vector<MemoryCost> memory_costs(int rounds);

/// Returns how many times as long a step takes if the model records what its IPUs do, by medians of
/// alternating runs.
double recording_cost(int rounds);

}  // namespace penstock::benchmarks
