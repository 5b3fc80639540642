#include "actors/gate_actor.hpp"

#include "actors/base_init.hpp"
#include "graph/optimizers/norm.hpp"

namespace penstock::actors {

void GateState::start(GateHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline,
                      std::shared_ptr<const UpdateRules> first_rules) {
  self = actor;
  setup = std::move(pipeline);
  rules = std::move(first_rules);
  squared_norms.assign(setup->plan->variables.size(), 0.0);
}

void GateState::on_gradients_ready(const GradientsReady& ready) {
  if (ready.replica == 0)
    for (const VariableNorm& norm : ready.squared_norms)
      squared_norms[static_cast<std::size_t>(norm.variable)] = norm.squared;
  if (++ready_count == links.optimizers.size()) open();
}

void GateState::open() {
  if (!setup->host->update_begins()) return;
  ready_count = 0;
  applied_count = 0;
  factor = rules->max_grad_norm > 0 ? graph::clip_factor(squared_norms, rules->max_grad_norm) : 1.0;
  // Where one IPU may be busy at a time, on_update_applied() lets the others follow one by one.
  const std::size_t first = setup->plan->schedule->one_at_a_time ? 1 : links.optimizers.size();
  for (std::size_t i = 0; i < first; ++i) self->send(links.optimizers[i], ApplyUpdate{factor});
}

void GateState::on_update_applied(const UpdateApplied& applied) {
  if (++applied_count == links.optimizers.size()) {
    setup->host->update_ended();
    self->send(links.step, applied);
    return;
  }
  if (setup->plan->schedule->one_at_a_time)
    self->send(links.optimizers[applied_count], ApplyUpdate{factor});
}

GateHandle::behavior_type gate_actor(GateHandle::stateful_pointer<GateState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<const UpdateRules> rules) {
  base_init(self);
  self->state.start(self, std::move(setup), std::move(rules));
  return {[=](GateLinks& links) { self->state.on_links(links); },
          [=](const GradientsReady& ready) { self->state.on_gradients_ready(ready); },
          [=](const UpdateApplied& applied) { self->state.on_update_applied(applied); },
          [=](const SetRules& message) { self->state.on_set_rules(message); }};
}

}  // namespace penstock::actors
