// These functions make the settings of contests.
#pragma once

#include <cstdint>

#include "benchmarks/runners/penstock_runner.hpp"

namespace penstock::benchmarks {

/// Returns the training in `replicas` replicas of the stages `stages`, such as "B1|B2,B3". If
/// `stages` is empty, every block of the network is a stage.
Setting training(const char* stages, int replicas, const Cut& cut);
/// Returns a setting in which the replicas divide `samples` samples, in micro-batches of `batch`.
Setting inference(const char* stages, int replicas, std::int64_t batch, std::int64_t samples);
/// Returns `setting` with two threads for each IPU.
Setting with_two_threads(Setting setting);

}  // namespace penstock::benchmarks
