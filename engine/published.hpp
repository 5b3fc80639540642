// A Published value is changed by one thread, inside a call of its model. Other threads may read it
// during that call.
#pragma once

#include <mutex>
#include <utility>

namespace penstock {

template <class T>
class Published {
 public:
  explicit Published(T value = {}) : value_(std::move(value)) {}

  /// Returns a copy of the value.
  T get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  void set(T value) {
    const std::lock_guard lock(mutex_);
    std::swap(value_, value);  // The caller frees the old value, without the lock.
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

}  // namespace penstock
