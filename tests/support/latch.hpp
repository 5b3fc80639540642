// On a Latch, test code waits for another thread, but not for ever.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace penstock::testing {

/// Its copies are one and the same latch, so that a thread that opens its own copy may be slower
/// than the test that waits.
class Latch {
 public:
  void open() const {
    const std::lock_guard lock(state_->mutex);
    state_->open = true;
    state_->changed.notify_all();
  }
  /// Returns false if nobody opens it within a minute.
  bool wait() const {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_for(lock, std::chrono::minutes(1), [this] { return state_->open; });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace penstock::testing
