// A TestClock is a clock whose time passes only when a test says so. A test gives its now() to the
// code that needs a clock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace penstock::testing {

/// A TestClock has static members only, so that there is only one such clock. Any thread may use
/// it.
class TestClock {
 public:
  using Duration = std::chrono::steady_clock::duration;
  using TimePoint = std::chrono::steady_clock::time_point;

  static TimePoint now() noexcept {
    ++readings_;
    return TimePoint(Duration(time_ += per_reading_));
  }

  static void pass(Duration time) { time_ += time.count(); }
  /// From now on, makes `time` pass with each reading of the clock.
  static void pass_with_each_reading(Duration time) { per_reading_ = time.count(); }
  /// Returns how often the clock has been read.
  static std::int64_t readings() { return readings_; }

 private:
  inline static std::atomic<Duration::rep> time_ = 0, per_reading_ = 0;
  inline static std::atomic<std::int64_t> readings_ = 0;
};

}  // namespace penstock::testing
