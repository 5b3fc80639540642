// The supervisor turns the errors that other actors report into one failure of the host's call, and
// a call in which nothing moves into a failure that says who waits for what, unless an IPU is known
// to be at work. It also answers who waits for what whenever the monitor asks. It lives on, and so
// do the other actors, if there is no memory for the text of a failure. It has a thread of its own,
// so that it can speak while all workers are busy. Actors that end are LivingActors' concern.
#pragma once

#include <optional>

#include "actors/host/call_slot.hpp"
#include "actors/host/failure_latch.hpp"
#include "actors/host/pipeline_pulse.hpp"
#include "actors/messages/local_messages.hpp"

namespace penstock::actors {

/// Holds what the supervisor looks at and the call that it fails.
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

  /// Returns whether there is nothing to explain any more: a call that has been answered, or
  /// another one that has begun meanwhile, moves.
  bool has_moved() const;
  /// Begins another round of questions. Answers to the one before are ignored from now on.
  void ask_what_is_awaited();
  /// Returns what IPUs are in the middle of, which they do not answer themselves.
  std::vector<Wait> work_of_ipus() const;
  /// Returns how many actors are asked: the feed, all stages and optimizers, and the gate.
  std::size_t asked() const;
  void report_stall();
  /// Returns a text that says who waits for what, and how many have not answered. @throws
  /// std::bad_alloc
  std::string stall_text();

  SupervisorHandle::pointer self = nullptr;
  SupervisorSetup setup;
  SupervisorLinks links;
  std::optional<std::uint64_t> asking;   // Says that nothing has moved since then.
  double quiet_seconds = 0;              // Says for how long nothing has moved, as far as is known.
  std::uint64_t round = 0;               // Is the number of the round of questions.
  std::size_t answers = 0;               // Counts those to the round.
  std::vector<Wait> waits;               // Are what they say.
  std::shared_ptr<WaitPicture> picture;  // Is null unless somebody has asked for it.
  Failure wordless;  // Is a stall for whose text there is no memory; it was made beforehand.
};

SupervisorHandle::behavior_type supervisor_actor(
    SupervisorHandle::stateful_pointer<SupervisorState> self, SupervisorSetup setup);

}  // namespace penstock::actors
