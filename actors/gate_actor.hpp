// Gate: the rendezvous before a weight update. Holds it back until every stage of every replica has
// its final gradients, so that weights never change inside a window; opens no more once the model
// has failed, so that all weights stay at the same update; computes the clipping factor of the
// global norm.
#pragma once

#include "actors/messages.hpp"

namespace penstock::actors {

struct GateState {
  void start(GateHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline,
             std::shared_ptr<const UpdateRules> first_rules);
  void on_links(GateLinks& given) { links = std::move(given); }
  void on_gradients_ready(const GradientsReady& ready);
  void on_update_applied(const UpdateApplied& applied);
  void on_set_rules(const SetRules& message) { rules = message.rules; }

  void open();

  GateHandle::pointer self = nullptr;
  std::shared_ptr<const PipelineSetup> setup;
  std::shared_ptr<const UpdateRules> rules;
  GateLinks links;
  std::size_t ready_count = 0;
  std::size_t applied_count = 0;
  double factor = 1;
  std::vector<double> squared_norms;  // of replica 0, by variable; the replicas' are equal
};

GateHandle::behavior_type gate_actor(GateHandle::stateful_pointer<GateState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<const UpdateRules> rules);

}  // namespace penstock::actors
