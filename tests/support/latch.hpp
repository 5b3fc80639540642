// By a Latch, test code waits for another thread, but not forever.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace penstock::testing {

/// All copies of a Latch are the same latch, so that a thread may open its copy even after the test
/// has given up and has ended.
class Latch {
 public:
  void open() const {
    const std::lock_guard lock(state_->mutex);
    state_->open = true;
    state_->changed.notify_all();
  }
  /// Waits until the latch is open. Returns false if that takes more than a minute.
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
