// A Stopwatch measures the seconds since it was made, and turns a count into a number per second.
// steady_ns() reads the clock that gives recorded events their times.
#pragma once

#include <chrono>
#include <cstdint>

namespace penstock {

/// Returns the time of the steady clock, which all processes of a machine share, in nanoseconds.
inline std::int64_t steady_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

class Stopwatch {
 public:
  double seconds() const noexcept {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  double per_second(std::int64_t count) const noexcept {
    return static_cast<double>(count) / seconds();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace penstock
