// A PipelineCast has the actors of one running model that are in this process, spawned and
// introduced to each other, and a proxy for each actor of another process that they exchange
// messages with. It also has the memory and the report of each stage of this process, which outlive
// the actors.
#pragma once

#include "actors/execution/output_collector.hpp"
#include "actors/execution/status_board.hpp"
#include "actors/host/host_calls.hpp"
#include "actors/messages/local_messages.hpp"
#include "actors/pipeline/living_actors.hpp"
#include "actors/remote/residents.hpp"
#include "actors/system/actor_system.hpp"
#include "actors/update/stage_memory.hpp"

namespace penstock::actors {

/// A Child is an actor, and the name that error messages give it.
struct Child {
  caf::actor actor = {};
  std::string name = {};
};

struct PipelineCast {
  StepHandle step = {};              ///< If this is not the host's process, it is a proxy.
  SupervisorHandle supervisor = {};  ///< If this is not the host's process, it is a proxy.
  /// These are all actors and proxies except a supervisor, in the order in which they are ended:
  /// the actor that was spawned last comes first.
  std::vector<Child> others = {};
  /// Messages from other processes are delivered to these. If there are no links, there are none.
  Residents residents = {};
  /// This counts the actors that have not ended, including the supervisor.
  std::shared_ptr<LivingActors> living = {};
  /// This collects what a call returns. The step actor owns it during a call. It is null except in
  /// the host's process.
  std::shared_ptr<OutputCollector> results = {};
  /// This is the memory of each stage, replica by replica. The stages' actors own it during a call.
  /// A stage of another process has none here.
  std::vector<StageMemory> memory = {};
  /// These are the boards on which the stages note what they have done, in the order of `memory`.
  /// The board of a stage of another process is null.
  std::vector<std::shared_ptr<StatusBoard>> statuses = {};
};

/// Spawns the actors of a pipeline that are in this process. Before the first call reaches an
/// actor, the actor knows its neighbors and those members of `host` that it needs. If an actor
/// cannot be spawned, those that have been spawned are told to end. `links[p]` leads to process
/// number p; it is null for this process, and the list may end before processes that have no
/// stages.
/// @throws Error out_of_memory if the system does not allow enough threads; internal if a link is
/// missing; std::bad_alloc.
PipelineCast spawn_pipeline(ActorSystem& system, std::shared_ptr<const PipelineSetup> setup,
                            std::shared_ptr<HostCalls> host,
                            std::shared_ptr<const UpdateRules> rules,
                            std::vector<LinkHandle> links = {});

/// Serves as the host's watchdog: asks the supervisor to find out why nothing has moved for
/// `quiet_seconds`, in which `pulse` has stayed at `beats`. If there is no memory for the question
/// and an IPU is at work, this function itself lets the host wait on.
void find_out_why_nothing_moves(const PipelineSetup& setup, PipelinePulse& pulse,
                                const PipelineCast& cast, std::uint64_t beats,
                                double quiet_seconds) noexcept;

/// Asks the supervisor to fill `picture` with what every actor waits for, and does not wait for the
/// answers. Any thread may call it. Returns false if there is no memory for the question.
bool show_waits(const PipelineCast& cast, std::shared_ptr<WaitPicture> picture) noexcept;

/// Tells every actor to end, the supervisor first. Without being told, actors would not end,
/// because the stages hold handles of each other. Allocates nothing.
void end(const PipelineCast& cast) noexcept;

}  // namespace penstock::actors
