#include "actors/host/update_latch.hpp"

#include <chrono>

namespace penstock::actors {

bool UpdateLatch::begin() {
  const std::lock_guard lock(mutex_);
  under_way_ = !closed_;
  return under_way_;
}

void UpdateLatch::end() {
  const std::lock_guard lock(mutex_);
  under_way_ = false;
  changed_.notify_all();
}

void UpdateLatch::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

void UpdateLatch::cut() noexcept {
  const std::lock_guard lock(mutex_);
  cut_ = under_way_;
  changed_.notify_all();
}

bool UpdateLatch::under_way() const {
  const std::lock_guard lock(mutex_);
  return under_way_;
}

bool UpdateLatch::await_end(double limit_seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(limit_seconds),
                           [this] { return !under_way_ || cut_; });
}

}  // namespace penstock::actors
