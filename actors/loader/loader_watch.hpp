// A LoaderWatch is what a loader's caller and its readers share besides tasks: which sample each
// reader is at, so that a stall can be explained, and which epoch is wanted, so that everything
// else can be told to stop. Any thread may use it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace penstock::actors {

class LoaderWatch {
 public:
  explicit LoaderWatch(int workers);

  /// Makes `epoch`, which `stop` belongs to, the only one that is wanted. Whatever is read for
  /// another epoch is asked to stop: callbacks that its reader has registered run before this
  /// returns.
  void begin_epoch(std::uint64_t epoch, std::stop_source stop) noexcept;
  /// Says that no epoch is wanted any more.
  void end() noexcept;
  /// Returns the token of `epoch`, which says that it is to stop already if that is not wanted.
  std::stop_token stop_of(std::uint64_t epoch) const noexcept;

  void begin_read(int worker, std::int64_t sample) noexcept { slot(worker).store(sample + 1); }
  void end_read(int worker) noexcept { slot(worker).store(0); }

  /// Returns, for instance, "worker 0 has not finished reading sample 17, worker 1 waits for work".
  std::string describe() const;
  /// Returns the part of describe() that is about one worker; if that reads nothing, it says
  /// `otherwise`, as in "worker 1 waits for work".
  std::string describe(int worker, const std::string& otherwise) const;

 private:
  std::atomic<std::int64_t>& slot(int worker) noexcept {
    return reading_[static_cast<std::size_t>(worker)];
  }

  mutable std::mutex mutex_;
  std::stop_source ended_;                          // Stops every epoch that is not wanted.
  std::stop_source wanted_ = ended_;                // Stops the epoch that is wanted.
  std::uint64_t epoch_ = 0;                         // Is the number of the epoch that is wanted.
  std::vector<std::atomic<std::int64_t>> reading_;  // Has the sample + 1, or 0 for none.
};

}  // namespace penstock::actors
