// Supervisor: turns the errors that other actors report into one failure of the host's call, and a
// call in which nothing moves into one that says who waits for what, unless an IPU is known to be
// at work. A lack of memory for the words ends neither it nor anybody else. It has a thread of its
// own, so that it can speak while all workers are busy. Actors that end are LivingActors' concern.
#pragma once

#include <optional>

#include "actors/messages/local_messages.hpp"

namespace penstock::actors {

struct SupervisorState {
  void start(SupervisorHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline);
  void on_links(SupervisorLinks& given) { links = std::move(given); }
  void on_failed(Failed& failed);
  void on_nothing_moves(const NothingMoves& quiet);
  void on_waits_for(WaitsFor& waits);

  bool has_moved() const;
  void ask_what_is_awaited();
  /// Returns how many actors are asked: the feed, all stages and optimizers, and the gate.
  std::size_t asked() const;
  void report_stall();
  /// Says who waits for what, and how many have not said it. @throws std::bad_alloc
  std::string stall_text();

  SupervisorHandle::pointer self = nullptr;
  std::shared_ptr<const PipelineSetup> setup;
  SupervisorLinks links;
  std::optional<std::uint64_t> asking;  // because nothing has moved since then
  double quiet_seconds = 0;             // for so long, as far as is known
  std::size_t answers = 0;
  std::vector<std::string> waits;
  Failure wordless;  // a stall for whose text there is no memory, made beforehand
};

SupervisorHandle::behavior_type supervisor_actor(
    SupervisorHandle::stateful_pointer<SupervisorState> self,
    std::shared_ptr<const PipelineSetup> setup);

}  // namespace penstock::actors
