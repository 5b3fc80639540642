// A HostCalls holds what the host's thread and a pipeline's actors share while the pipeline runs.
// Each actor gets only those members that it needs; the host has all members. Only the host's
// thread waits.
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
  Bell bell_;  // The bell is constructed first, because the other members ring it.

 public:
  /// `now` is the clock that measures for how long nothing has moved.
  explicit HostCalls(Stillness::Now now = &Stillness::Clock::now) : pulse(bell_, now) {}

  /// Begins a call, which is under way until wait() has taken its answer.
  /// @throws Error as FailureLatch::expect_none(); busy if another call is under way.
  void begin();
  /// Throws what begin() would throw, but begins no call.
  void expect_idle();
  /// Returns whether the pipeline has failed.
  /// @throws Error busy if the pipeline has not failed and a call is under way.
  bool expect_idle_or_failed() const;
  /// Returns whether the call has been answered or the pipeline has failed.
  bool answered() const { return call.answered() || failure.failed(); }

  /// A Watchdog finds out why nothing has moved for `quiet_seconds`, in which
  /// PipelinePulse::beats() has stayed `beats`. It either notes a failure in `failure`, or excuses
  /// the silence in `pulse`. It must not throw.
  using Watchdog = std::function<void(std::uint64_t beats, double quiet_seconds)>;

  /// Waits for the call's answer, ends the call and returns the answer. If the pipeline fails
  /// before the answer is taken, the failure is thrown, even if the answer came first. The watchdog
  /// is called once nothing has moved for `quiet_seconds`, and again a second later if it has
  /// neither failed nor excused the call yet. After an excuse the wait goes on, and the watchdog is
  /// called again after another `quiet_seconds` in which nothing moves. Even if this function
  /// throws an Error, the call has ended.
  /// @throws Error with the failure; stalled if nothing moves and there is no watchdog, or the
  /// watchdog is silent as well.
  Answer wait(double quiet_seconds, const Watchdog& watchdog = {});

  CallSlot call{bell_};
  UpdateLatch updates;
  FailureLatch failure{bell_, updates};
  PipelinePulse pulse;

 private:
  void await_end(double quiet_seconds, const Watchdog& watchdog);

  /// This is the failure of a pipeline whose watchdog is silent. It is made beforehand, because
  /// there may be no memory when it is needed.
  Failure silence_{Errc::stalled,
                   "the engine has not answered, and its watchdog is silent, or there is no memory "
                   "to ask it"};
};

/// Returns a pointer to one member of `host`, for an actor that needs no other member. The pointer
/// keeps all of `host` alive.
template <class Member>
std::shared_ptr<Member> member_of(const std::shared_ptr<HostCalls>& host,
                                  Member HostCalls::*member) {
  return {host, &((*host).*member)};
}

}  // namespace penstock::actors
