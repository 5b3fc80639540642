// LoaderWatch: what a loader's caller and its workers share besides messages: which sample each
// worker is reading, so that a stall can be explained, and which epoch is still wanted, so that a
// worker stops early. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock::actors {

class LoaderWatch {
 public:
  explicit LoaderWatch(int workers) : reading_(static_cast<std::size_t>(workers)) {}

  /// Nothing is to be read any more for epochs before this one.
  void abandon_before(std::uint64_t epoch) noexcept { wanted_.store(epoch); }
  void abandon_all() noexcept { abandon_before(~std::uint64_t{0}); }
  bool wanted(std::uint64_t epoch) const noexcept { return epoch >= wanted_.load(); }

  void begin_read(int worker, std::int64_t sample) noexcept { slot(worker).store(sample + 1); }
  void end_read(int worker) noexcept { slot(worker).store(0); }

  /// "worker 0 has not finished reading sample 17, worker 1 waits for work".
  std::string describe() const;

 private:
  std::atomic<std::int64_t>& slot(int worker) noexcept {
    return reading_[static_cast<std::size_t>(worker)];
  }

  std::atomic<std::uint64_t> wanted_{0};
  std::vector<std::atomic<std::int64_t>> reading_;  // sample + 1; 0: none
};

}  // namespace penstock::actors
