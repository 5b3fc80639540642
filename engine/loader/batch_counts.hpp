// BatchCounts say how many batches a loader's epoch has, how many samples a batch has, and how many
// samples the epoch leaves out. One thread at a time writes them; any thread may read them
// meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "actors/loader/loader_order.hpp"
#include "engine/loader/epoch_plans.hpp"

namespace penstock {

/// A SampledEpoch describes an epoch whose samples or batches a sampler of the host's has chosen.
struct SampledEpoch {
  std::shared_ptr<const actors::EpochPlan> plan = {};
  std::int64_t rows = 0;     ///< A batch has this many samples.
  std::int64_t dropped = 0;  ///< This many samples are in no batch.
  /// `short_rows` is the number of samples in the last batch, or 0 if the last batch is full.
  std::int64_t short_rows = 0;
};

struct BatchCounts {
  std::atomic<std::int64_t> rows{1};  ///< A batch has this many samples.
  /// An epoch has this many batches; 0 says "unknown".
  std::atomic<std::int64_t> batches{0};
  std::atomic<std::int64_t> dropped{0};  ///< This many samples are in no batch.
  /// `short_rows` is the number of samples in the last batch, or 0 if the last batch is full.
  std::atomic<std::int64_t> short_rows{0};

  void set(const EpochSize& size) noexcept;
  void set(const SampledEpoch& epoch) noexcept;

  /// Returns one line that says how many samples are in no full batch, or an empty text if every
  /// sample is in one. `reason` says why some samples are in no batch.
  std::string note(const std::string& reason) const;
};

}  // namespace penstock
