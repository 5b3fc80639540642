// The tests of offload train the tutorials' network on digits with these functions, on the same
// data and for the same number of updates.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/training_run.hpp"

namespace penstock::testing {

inline constexpr std::int64_t offload_updates = 3;
inline constexpr int offload_batch = 12, offload_accumulation = 4;

/// Returns options with an IPU for each of the four blocks.
Options four_stages();
/// Returns options with everything in one stage.
Options one_stage();

TrainingRun run_digits(const Options& options,
                       const Optimizer& optimizer = AdamW{.learning_rate = 0.01});

/// Returns the error of a run with `kept` that has only as much memory as a run with `moved` needs,
/// which offloads more. All stages are on one IPU. Checks that both runs need exactly the memory
/// that they take, to the byte.
std::string refused_without(Options kept, Options moved);

std::int64_t sum(const TrainingRun& run, std::int64_t (*of)(const StageReport&));
/// Returns the sum of the peaks of all stages. Memory that stages share is counted for each of
/// them.
std::int64_t peaks(const TrainingRun& run);
/// Returns the peak of stages that are all on one IPU.
std::int64_t ipu_peak(const TrainingRun& run);

}  // namespace penstock::testing
