#include "actors/host/host_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

namespace penstock::actors {
namespace {

/// The watchdog counts as silent once this many seconds have passed after its first call, and after
/// its second one.
constexpr double watchdog_seconds[] = {1, 10};

/// Before the watchdog is called, at most this time passes between two looks for a move. The call
/// therefore comes at most this much later than the silence has become too long.
constexpr double look_seconds = 0.25;

/// A Patience says how long to sleep between the looks at a call in which nothing moves, and when
/// to ask the watchdog.
class Patience {
 public:
  enum class Next : std::uint8_t { sleep, ask_watchdog, give_up };

  /// Waits `quiet_seconds` for a move before the watchdog is asked, which happens `most_questions`
  /// times at most.
  Patience(double quiet_seconds, std::size_t most_questions)
      : quiet_seconds_(quiet_seconds), most_questions_(most_questions) {
    begin();
  }

  /// Begins anew, because something has moved or the silence has been excused.
  void begin() {
    questions_ = 0;
    left_seconds_ = quiet_seconds_;
  }
  /// Returns whether the watchdog has been asked since the beginning.
  bool has_asked() const { return questions_ > 0; }
  /// Returns how long to sleep until the next look.
  double sleep_seconds() const {
    return has_asked() ? watchdog_seconds[questions_ - 1] : std::min(look_seconds, left_seconds_);
  }
  /// Notes that sleep_seconds() have passed in which nothing has moved, and says what to do now.
  Next next() {
    if (!has_asked()) left_seconds_ -= sleep_seconds();
    if (left_seconds_ > 0) return Next::sleep;
    if (questions_ == most_questions_) return Next::give_up;
    ++questions_;
    return Next::ask_watchdog;
  }

 private:
  double quiet_seconds_;
  std::size_t most_questions_;
  std::size_t questions_ = 0;
  double left_seconds_ = 0;
};

}  // namespace

void HostCalls::begin() {
  failure.expect_none();
  call.begin();
  pulse.beat();  // The time before the call does not count as a time in which nothing moves.
}

void HostCalls::expect_idle() {
  failure.expect_none();
  call.expect_none();
}

bool HostCalls::expect_idle_or_failed() const {
  if (failure.failed()) return true;
  call.expect_none();
  return false;
}

Answer HostCalls::wait(double quiet_seconds, const Watchdog& watchdog) {
  await_end(quiet_seconds, watchdog);
  std::optional<Answer> answer = call.end();
  failure.expect_none();
  return std::move(*answer);
}

void HostCalls::await_end(double quiet_seconds, const Watchdog& watchdog) {
  Patience patience(quiet_seconds, watchdog ? std::size(watchdog_seconds) : 0);
  Stillness still = pulse.look();
  const auto is_excused = [&] { return patience.has_asked() && pulse.is_excused(still.seen()); };
  for (;;) {
    bell_.wait(patience.sleep_seconds(), [&] { return answered() || is_excused(); });
    if (answered()) return;
    const bool excused = is_excused();
    const std::uint64_t seen = still.seen();
    still = pulse.look();
    if (still.seen() != seen || excused) {
      patience.begin();
      if (excused) pulse.forget_excuse();
      continue;
    }
    const Patience::Next next = patience.next();
    if (next == Patience::Next::ask_watchdog) watchdog(still.seen(), still.seconds());
    if (next == Patience::Next::give_up) failure.fail(std::move(silence_));
  }
}

}  // namespace penstock::actors
