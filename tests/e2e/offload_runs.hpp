// Trainings of the tutorials' network on digits, for the tests of offload: the same data, the same
// number of updates, and what their stages took.
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

/// The refusal of a run that has as much memory as another one needs with more offload, each with
/// all stages on one IPU. Expects of both that they need what they take, to the byte.
std::string refused_without(Options kept, Options moved);

std::int64_t sum(const TrainingRun& run, std::int64_t (*of)(const StageReport&));
/// Returns the sum over all stages, in which what they share is counted for each.
std::int64_t peaks(const TrainingRun& run);
/// Returns the peak of stages that are all on one IPU.
std::int64_t ipu_peak(const TrainingRun& run);

}  // namespace penstock::testing
