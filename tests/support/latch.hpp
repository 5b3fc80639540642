// Latch: what test code waits for on another thread, but not for ever.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace penstock::testing {

class Latch {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  /// False if it is not opened within a minute.
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

}  // namespace penstock::testing
