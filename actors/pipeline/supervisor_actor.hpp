// The supervisor turns the errors that other actors report into one failure of the host's call. If
// nothing moves in a call, it makes a failure that says which actors wait for what, unless an IPU
// is known to be at work. It answers the same question when the monitor asks. If there is no memory
// for the text of a failure, neither the supervisor nor any other actor ends for that reason. The
// supervisor has a thread of its own, so that it can work while all workers are busy. The end of an
// actor is reported by LivingActors, not by the supervisor.
#pragma once

#include <optional>

#include "actors/host/call_slot.hpp"
#include "actors/host/failure_latch.hpp"
#include "actors/host/pipeline_pulse.hpp"
#include "actors/messages/local_messages.hpp"

namespace penstock::actors {

/// A SupervisorSetup is what the supervisor looks at, and the latch that gets the failures that it
/// makes.
struct SupervisorSetup {
  double stall_seconds = 0;
  std::shared_ptr<const CallSlot> call = {};
  std::shared_ptr<FailureLatch> failure = {};
  std::shared_ptr<PipelinePulse> pulse = {};
};

struct SupervisorState {
  void start(SupervisorHandle::pointer actor, SupervisorSetup new_setup);
  void on_links(SupervisorLinks& message) { links = std::move(message); }
  void on_failed(Failed& failed);
  void on_nothing_moves(const NothingMoves& quiet);
  void on_show_waits(ShowWaits& question);
  void on_waits_for(WaitsFor& answer);

  /// Returns whether nothing is left to explain: the call has been answered or has failed, or
  /// something has moved since the host asked.
  bool has_moved() const;
  /// Begins another round of questions. Answers to earlier rounds are ignored from now on.
  void ask_what_is_awaited();
  /// Returns what the IPUs are working on. The IPUs themselves are not asked, because an IPU
  /// answers no message while it works.
  std::vector<Wait> work_of_ipus() const;
  /// Returns how many actors are asked: the feed, all stages and optimizers, and the gate.
  std::size_t asked() const;
  void report_stall();
  /// Returns a text that says which actors wait for what, and how many have not answered.
  /// @throws std::bad_alloc
  std::string stall_text();

  SupervisorHandle::pointer self = nullptr;
  SupervisorSetup setup;
  SupervisorLinks links;
  // While a stall is being explained, this is NothingMoves::beats of the host's message.
  std::optional<std::uint64_t> asking;
  double quiet_seconds = 0;              // This is NothingMoves::quiet_seconds of the last message.
  std::uint64_t round = 0;               // This is the number of the last round of questions.
  std::size_t answers = 0;               // This many answers to that round of questions have come.
  std::vector<Wait> waits;               // These are the waits in the answers.
  std::shared_ptr<WaitPicture> picture;  // This is null unless the monitor waits for a picture.
  // This failure, made beforehand, reports a stall for whose text there is no memory.
  Failure wordless;
};

SupervisorHandle::behavior_type supervisor_actor(
    SupervisorHandle::stateful_pointer<SupervisorState> self, SupervisorSetup setup);

}  // namespace penstock::actors
