// A Stopwatch measures the seconds since it was made, and how many of something that is per second.
#pragma once

#include <chrono>
#include <cstdint>

namespace penstock {

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
