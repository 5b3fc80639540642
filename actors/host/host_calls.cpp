#include "actors/host/host_calls.hpp"

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

namespace penstock::actors {
namespace {

/// Has the seconds that pass after the first and after the second call of the watchdog until it
/// counts as silent.
constexpr double watchdog_seconds[] = {1, 10};

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
  const std::size_t most_calls = watchdog ? std::size(watchdog_seconds) : 0;
  std::size_t calls = 0;  // Counts the calls of the watchdog that have not been answered.
  Stillness still = pulse.look();
  const auto in_time = [&] {
    const double limit = calls == 0 ? quiet_seconds : watchdog_seconds[calls - 1];
    bell_.wait(limit, [&] { return answered() || (calls > 0 && pulse.is_excused(still.seen())); });
    return answered();
  };
  while (!in_time()) {
    const bool excused = calls > 0 && pulse.is_excused(still.seen());
    const std::uint64_t seen = still.seen();
    still = pulse.look();
    if (still.seen() != seen) {
      calls = 0;
    } else if (excused) {
      calls = 0;
      pulse.forget_excuse();
    } else if (calls < most_calls) {
      ++calls;
      watchdog(still.seen(), still.seconds());
    } else {
      failure.fail(std::move(silence_));
    }
  }
}

}  // namespace penstock::actors
