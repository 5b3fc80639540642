// A Stillness says for how long nothing has moved, as far as that can be told by looking now and
// then at a number that counts moves. It is not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

namespace penstock::actors {

class Stillness {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = Clock::time_point (*)() noexcept;

  /// Begins as if something had moved just now. `now` tells the time.
  explicit Stillness(Now now) noexcept : now_(now) {}

  /// Takes note of `moves`. If the number is not the same as last time, something counts as having
  /// moved just now.
  void look(std::uint64_t moves) noexcept {
    if (moves == seen_) return;
    seen_ = moves;
    since_ = now_();
  }

  /// Returns the number that was seen last.
  std::uint64_t seen() const noexcept { return seen_; }
  /// Returns for how many seconds the number has been the same.
  double seconds() const noexcept { return std::chrono::duration<double>(now_() - since_).count(); }

 private:
  Now now_;
  std::uint64_t seen_ = 0;
  Clock::time_point since_ = now_();
};

}  // namespace penstock::actors
