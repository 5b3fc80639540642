// A LoaderRuntime is a plain object that owns a loader's actor, readers and threads. Only one
// thread at a time may use it, except that any thread may call waited().
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "actors/loader/loader_batch.hpp"
#include "actors/loader/loader_source.hpp"
#include "actors/loader/stream_source.hpp"
#include "penstock/trace.hpp"

namespace penstock::actors {

/// LoaderLimits say how long a loader waits for the code of a dataset, and how many events it
/// keeps.
struct LoaderLimits {
  /// This is the longest time that a call waits for a batch.
  std::chrono::nanoseconds batch = std::chrono::seconds(60);
  /// This is the longest time that close() waits for the loader's threads to end.
  std::chrono::nanoseconds end = std::chrono::seconds(10);
  /// The loader keeps the newest `trace_events` events; 0 means that it records nothing.
  std::int64_t trace_events = 0;
};

/// LoaderRemains say what a closed loader has left behind.
struct LoaderRemains {
  int threads = 0;        ///< This many threads were left behind.
  std::string text = {};  ///< This says what these threads are doing.
};

class LoaderRuntime {
 public:
  /// Starts the loader's threads. The caller has checked that no field of a batch is larger than a
  /// tensor can be. @throws Error out_of_memory
  LoaderRuntime(LoaderSource source, const LoaderSettings& settings, const LoaderLimits& limits);
  LoaderRuntime(StreamSource source, const StreamSettings& settings, const LoaderLimits& limits);
  /// Closes the loader. In a process that was forked meanwhile, the destructor does nothing.
  ~LoaderRuntime();
  LoaderRuntime(const LoaderRuntime&) = delete;
  LoaderRuntime& operator=(const LoaderRuntime&) = delete;

  /// Begins epoch number `epoch`, which is greater than the numbers of all epochs before. The epoch
  /// visits the samples of `plan`, or those that the settings ask for if `plan` is null. The first
  /// call of take() takes batch number `first_batch`, and earlier batches are not read. A loader of
  /// streams ignores `plan` and `first_batch`. If the function throws, nothing has changed.
  /// @throws Error closed
  void start_epoch(std::uint64_t epoch, std::shared_ptr<const EpochPlan> plan = nullptr,
                   std::int64_t first_batch = 0);
  /// Returns batch number `batch` of the epoch, with one tensor per field. The result has no
  /// tensors, and LoadedBatch::ended is true, if the streams have no more samples for a batch.
  /// Batches are taken in their order; after an error, the same batch may be taken again.
  /// @throws Error invalid_data if a sample cannot be read; out_of_memory; stalled if the batch
  /// does not come within LoaderLimits::batch; cancelled if a stop is requested before the batch
  /// comes; closed.
  LoadedBatch take(std::int64_t batch, const std::stop_token& stop = {});
  /// Returns how long calls of take() have waited for batches, including calls that failed.
  std::chrono::nanoseconds waited() const noexcept;
  /// Returns what the readers have done, and how take() has waited, since the last call of this
  /// function. The events are in the order in which they ended. Allocates nothing.
  std::vector<HostEvent> take_trace();

  /// Asks the dataset's code to stop, and waits for the threads that run it, for LoaderLimits::end
  /// at most. Threads that are still in the dataset's code are left behind: each of them keeps what
  /// it uses until the code returns. Everything else has ended when close() returns. A further call
  /// returns what is still left by then.
  LoaderRemains close() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::actors
