// LoaderRuntime: a loader actor with its workers and threads, as a plain object. Used from one
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "actors/loader/loader_batch.hpp"
#include "actors/loader/loader_source.hpp"
#include "actors/loader/stream_source.hpp"

namespace penstock::actors {

class LoaderRuntime {
 public:
  /// A batch of every field is known to make a tensor.
  LoaderRuntime(LoaderSource source, const LoaderSettings& settings,
                std::chrono::nanoseconds timeout);
  /// @param threads for the workers; without, the loader's own is theirs
  LoaderRuntime(StreamSource source, const StreamSettings& settings, bool threads,
                std::chrono::nanoseconds timeout);
  /// Waits for samples that are just being read, and for nothing else.
  ~LoaderRuntime();

  /// Numbers are greater from epoch to epoch. A plan with other batches than the settings': not for
  /// streams.
  void start_epoch(std::uint64_t epoch, std::shared_ptr<const EpochPlan> plan = nullptr);
  /// Batch `batch` of the epoch, one tensor per field, or the word that there is none. Batches are
  /// taken in their order; one whose taking failed may be taken again.
  /// @throws Error invalid_data if a sample cannot be read; stalled after the timeout; closed or
  /// internal if the loader is gone.
  LoadedBatch take(std::int64_t batch);
  /// What calls of take() have spent on batches that were not there, those that failed included.
  std::chrono::nanoseconds waited() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::actors
