// PipelineCast: the actors of one running model, spawned and introduced to each other, and the
// memory of replica 0 and every stage's report, which outlive them.
#pragma once

#include "actors/pipeline/living_actors.hpp"
#include "actors/pipeline/messages.hpp"
#include "actors/system/actor_system.hpp"

namespace penstock::actors {

/// A stage's weights and, in training, how many updates they have seen.
struct StageMemory {
  std::shared_ptr<Arena> arena = {};
  std::shared_ptr<const WeightUpdate> update = {};
  std::shared_ptr<std::byte> weights = {};  ///< those in the host store: the store may have ended
};

/// An actor, and what messages call it.
struct Child {
  caf::actor actor = {};
  std::string name = {};
};

struct PipelineCast {
  StepHandle step = {};
  SupervisorHandle supervisor = {};
  /// Everybody but the supervisor, downstream actors first: the order in which they are ended.
  std::vector<Child> others = {};
  std::shared_ptr<LivingActors> living = {};  ///< those and the supervisor
  std::vector<StageMemory> memory = {};       ///< of replica 0, by stage; theirs while they live
  /// Replica by replica, stage by stage; theirs as well.
  std::vector<std::shared_ptr<StageStatus>> statuses = {};
};

/// One spawn line per role; every actor knows its neighbours before the first call reaches it. If
/// one of them cannot be had, the others are told to end.
/// @throws Error out_of_memory if there are not enough threads; std::bad_alloc.
PipelineCast spawn_pipeline(ActorSystem& system, std::shared_ptr<const PipelineSetup> setup,
                            std::shared_ptr<const UpdateRules> rules);

/// Tells every actor to end, the supervisor first. Stages know each other, so nobody ends by
/// running out of handles. Allocates nothing.
void end(const PipelineCast& cast) noexcept;

/// Once all have ended: the variables, in the order of Plan::variables. @throws Error closed if
/// the stages ended in the middle of an update.
Variables variables_after_end(const graph::Plan& plan, const std::vector<StageMemory>& memory);

}  // namespace penstock::actors
