// PipelineCast: the actors of one running model, spawned and introduced to each other.
#pragma once

#include <map>

#include "actors/actor_system.hpp"
#include "actors/messages.hpp"

namespace penstock::actors {

struct PipelineCast {
  StepHandle step = {};
  SupervisorHandle supervisor = {};
  /// Everybody but the supervisor, downstream actors first: the order in which they are ended.
  std::vector<caf::actor> others = {};
};

/// One spawn line per role; every actor knows its neighbours before the first call reaches it.
PipelineCast spawn_pipeline(ActorSystem& system, std::shared_ptr<const PipelineSetup> setup,
                            std::shared_ptr<const UpdateRules> rules);

}  // namespace penstock::actors
