// A Bell wakes the host's thread when something has happened that the thread may be waiting for.
// What has happened is noted elsewhere before the bell is rung, so that no waking is lost. Any
// thread may use a Bell.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace penstock::actors {

class Bell {
 public:
  void ring() noexcept {
    const std::lock_guard lock(mutex_);
    ++rings_;
    rung_.notify_all();
  }

  /// Waits until `happened` returns true, at most for `seconds`, and returns what `happened`
  /// returned last. `happened` is called at the beginning, after each ring, and when the time is
  /// up.
  bool wait(double seconds, const auto& happened) {
    std::unique_lock lock(mutex_);
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::ceil<std::chrono::steady_clock::duration>(
                                               std::chrono::duration<double>(seconds));
    for (bool late = false;;) {
      const std::uint64_t heard = rings_;
      lock.unlock();
      const bool done = happened();
      if (done || late) return done;
      lock.lock();
      late = !rung_.wait_until(lock, end, [&] { return rings_ != heard; });
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable rung_;
  std::uint64_t rings_ = 0;
};

}  // namespace penstock::actors
