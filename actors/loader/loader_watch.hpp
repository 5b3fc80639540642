// A LoaderWatch is shared by a loader's caller and its readers. It knows which sample each reader
// is reading, so that a stall can be explained, and which epoch is wanted, so that reads for any
// other epoch can be stopped. It also keeps the recorded events. Any thread may use it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "actors/execution/host_trace.hpp"

namespace penstock::actors {

class LoaderWatch {
 public:
  /// Makes a watch that keeps the newest `trace_events` events; 0 means that nothing is recorded.
  explicit LoaderWatch(int workers, std::int64_t trace_events = 0);

  /// Makes `epoch` the only epoch that is wanted. Its reads will be asked to stop through `stop`.
  /// Reads for any other epoch are asked to stop now; the callbacks that they have registered for
  /// that run before this function returns.
  void begin_epoch(std::uint64_t epoch, std::stop_source stop) noexcept;
  /// Notes that no epoch is wanted any more, and asks all reads to stop.
  void end() noexcept;
  /// Returns the stop token for reads of `epoch`. If the epoch is not wanted, the token has been
  /// asked to stop already.
  std::stop_token stop_of(std::uint64_t epoch) const noexcept;

  void begin_read(int worker, std::int64_t sample) noexcept { slot(worker).store(sample + 1); }
  void end_read(int worker) noexcept { slot(worker).store(0); }

  /// Returns the trace, or null if nothing is recorded.
  HostTrace* trace() noexcept { return trace_ ? &*trace_ : nullptr; }

  /// Returns, for instance, "worker 0 has not finished reading sample 17, worker 1 waits for work".
  std::string describe() const;
  /// Returns the part of describe() that is about `worker`. If the worker reads nothing, the text
  /// is "worker <number>" followed by `otherwise`, such as "waits for work".
  std::string describe(int worker, const std::string& otherwise) const;

 private:
  std::atomic<std::int64_t>& slot(int worker) noexcept {
    return reading_[static_cast<std::size_t>(worker)];
  }

  mutable std::mutex mutex_;
  std::stop_source ended_;            // This stops every epoch that is not wanted.
  std::stop_source wanted_ = ended_;  // This stops the epoch that is wanted.
  std::uint64_t epoch_ = 0;           // This epoch is wanted.
  // This has, for each worker, the number of the sample that it reads plus 1, or 0 if it reads
  // none.
  std::vector<std::atomic<std::int64_t>> reading_;
  std::optional<HostTrace> trace_;
};

}  // namespace penstock::actors
