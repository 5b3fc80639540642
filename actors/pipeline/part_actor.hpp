// A part actor stands for the actors of one process in a pipeline that is divided among several
// processes. The host's process has none: there, the step actor does what a part does.
#pragma once

#include <memory>

#include "actors/messages/local_messages.hpp"

namespace penstock::actors {

struct PartState {
  void on_links(PartLinks& message) { links = std::move(message); }
  void on_new_rules(NewRules& message);
  /// Checks that new rules are those of the plan's variables, and that they need the state that the
  /// optimizers have. @throws Error internal
  void check(const UpdateRules& fresh) const;

  PartHandle::pointer self = nullptr;
  std::shared_ptr<const PipelineSetup> setup;
  std::shared_ptr<const UpdateRules> rules;
  PartLinks links;
};

PartHandle::behavior_type part_actor(PartHandle::stateful_pointer<PartState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<const UpdateRules> rules);

}  // namespace penstock::actors
