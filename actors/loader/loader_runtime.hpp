// A LoaderRuntime is a loader actor with its readers and threads, as a plain object. One thread at
// a time uses it, but any thread may call waited().
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "actors/loader/loader_batch.hpp"
#include "actors/loader/loader_source.hpp"
#include "actors/loader/stream_source.hpp"

namespace penstock::actors {

/// Says how long a loader waits for the code of a dataset.
struct LoaderLimits {
  /// Is the longest time that a call waits for a batch.
  std::chrono::nanoseconds batch = std::chrono::seconds(60);
  /// Is the longest time that close() waits for the loader's threads to end.
  std::chrono::nanoseconds end = std::chrono::seconds(10);
};

/// Says what a closed loader has left behind.
struct LoaderRemains {
  int threads = 0;        ///< Counts the threads that were left behind.
  std::string text = {};  ///< Says what the threads are doing; it is empty if there are none.
};

class LoaderRuntime {
 public:
  /// Starts the loader's threads. The caller has checked that a batch of each field is not larger
  /// than a tensor can be. @throws Error out_of_memory
  LoaderRuntime(LoaderSource source, const LoaderSettings& settings, const LoaderLimits& limits);
  LoaderRuntime(StreamSource source, const StreamSettings& settings, const LoaderLimits& limits);
  /// Closes the loader. In a process that was forked meanwhile, the destructor does nothing.
  ~LoaderRuntime();
  LoaderRuntime(const LoaderRuntime&) = delete;
  LoaderRuntime& operator=(const LoaderRuntime&) = delete;

  /// Begins epoch number `epoch`, which is greater than the numbers of all epochs before. If `plan`
  /// is not null, it says what the epoch visits instead of the settings; a loader of streams
  /// ignores it. Nothing has changed if the function throws.
  /// @throws Error closed
  void start_epoch(std::uint64_t epoch, std::shared_ptr<const EpochPlan> plan = nullptr);
  /// Returns batch `batch` of the epoch, one tensor per field, or says that the epoch has no more
  /// batches. Batches are taken in their order; after an error the same batch may be taken again.
  /// @throws Error invalid_data if a sample cannot be read; out_of_memory; stalled if the batch
  /// does not come within LoaderLimits::batch; cancelled if a stop is requested before; closed.
  LoadedBatch take(std::int64_t batch, const std::stop_token& stop = {});
  /// Returns how long calls of take(), those that failed included, have waited for batches.
  std::chrono::nanoseconds waited() const noexcept;

  /// Asks the dataset's code to stop, and waits for the threads that run it, for LoaderLimits::end
  /// at most. Threads that are still in the dataset's code are left behind: each of them keeps what
  /// it uses until the code returns. Everything else has ended when close() returns. A further call
  /// says what is left by then.
  LoaderRemains close() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::actors
