// HostCalls holds what the host's thread and a pipeline's actors share while it runs. Actors are
// given the members that they need; the host, whose thread is the only one that waits, has all of
// them.
#pragma once

#include <functional>
#include <memory>

#include "actors/host/bell.hpp"
#include "actors/host/call_slot.hpp"
#include "actors/host/failure_latch.hpp"
#include "actors/host/pipeline_pulse.hpp"
#include "actors/host/update_latch.hpp"

namespace penstock::actors {

class HostCalls {
  Bell bell_;  // The other members ring it, so that it is there before them.

 public:
  /// `now` tells the time for which something has been still.
  explicit HostCalls(Stillness::Now now = &Stillness::Clock::now) : pulse(bell_, now) {}

  /// Begins a call, which is under way until wait() has taken its answer.
  /// @throws Error as FailureLatch::expect_none(); busy if another call is under way.
  void begin();
  /// Throws what begin() would, but begins no call.
  void expect_idle();
  /// Throws busy if a call is under way and the pipeline has not failed; returns whether it has.
  bool expect_idle_or_failed() const;
  /// Returns whether the call has been answered, or the pipeline has failed.
  bool answered() const { return call.answered() || failure.failed(); }

  /// A watchdog finds out why nothing has moved for `quiet_seconds`, since PipelinePulse::beats()
  /// was `beats`. It fails the call, or excuses it. It must not throw.
  using Watchdog = std::function<void(std::uint64_t beats, double quiet_seconds)>;

  /// Waits for the answer; a failure goes first, even one that comes after it, before it is taken.
  /// The watchdog is called once nothing has moved for `quiet_seconds`, and again a second later if
  /// it has neither failed nor excused the call yet. After an excuse the wait goes on, and the
  /// watchdog is called again after another `quiet_seconds` in which nothing moves.
  /// The call is over then, whatever is thrown.
  /// @throws Error with the failure; stalled if there is no watchdog, or it is silent too.
  Answer wait(double quiet_seconds, const Watchdog& watchdog = {});

  CallSlot call{bell_};
  UpdateLatch updates;
  FailureLatch failure{bell_, updates};
  PipelinePulse pulse;

 private:
  void await_end(double quiet_seconds, const Watchdog& watchdog);

  /// The failure of a pipeline that is silent. It is made beforehand, for there may be no memory.
  Failure silence_{Errc::stalled,
                   "the engine has not answered, and its watchdog is silent, or there is no memory "
                   "to ask it"};
};

/// Returns one member of `host`, for somebody who needs no other. All of `host` lives as long as a
/// pointer to one of its members.
template <class Member>
std::shared_ptr<Member> member_of(const std::shared_ptr<HostCalls>& host,
                                  Member HostCalls::*member) {
  return {host, &((*host).*member)};
}

}  // namespace penstock::actors
