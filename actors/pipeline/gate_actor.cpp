#include "actors/pipeline/gate_actor.hpp"

#include "actors/system/base_init.hpp"
#include "graph/optimizers/norm.hpp"

namespace penstock::actors {

void GateState::start(GateHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline,
                      std::shared_ptr<const UpdateRules> first_rules) {
  self = actor;
  setup = std::move(pipeline);
  rules = std::move(first_rules);
  squared_norms.assign(setup->plan->variables.size(), 0.0);
}

void GateState::on_gradients_ready() {
  if (++ready < links.optimizers.size()) return;
  ready = 0;
  if (!setup->host->update_begins()) return;
  const bool clips = rules->max_grad_norm > 0;
  begin_round({clips ? UpdatePhase::measure : UpdatePhase::apply, 1.0});
}

void GateState::begin_round(const UpdateOrder& order) {
  round = order;
  done = 0;
  const std::size_t first = one_by_one() ? 1 : links.optimizers.size();
  for (std::size_t i = 0; i < first; ++i) self->send(links.optimizers[i], round);
}

void GateState::on_phase_done(const PhaseDone& answer) {
  if (answer.replica == 0)
    for (const VariableNorm& norm : answer.squared_norms)
      squared_norms[static_cast<std::size_t>(norm.variable)] = norm.squared;
  if (++done == links.optimizers.size())
    end_round();
  else if (one_by_one())
    self->send(links.optimizers[done], round);
}

void GateState::end_round() {
  if (round.phase == UpdatePhase::measure) {
    begin_round({UpdatePhase::apply, graph::clip_factor(squared_norms, rules->max_grad_norm,
                                                        rules->exact_max_grad_norm)});
    return;
  }
  setup->host->update_ended();
  for (const OptimizerHandle& optimizer : links.optimizers) self->send(optimizer, Release{});
}

GateHandle::behavior_type gate_actor(GateHandle::stateful_pointer<GateState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<const UpdateRules> rules) {
  base_init(self);
  self->state.start(self, std::move(setup), std::move(rules));
  return {[=](GateLinks& links) { self->state.on_links(links); },
          [=](const GradientsReady&) { self->state.on_gradients_ready(); },
          [=](const PhaseDone& done) { self->state.on_phase_done(done); },
          [=](const SetRules& message) { self->state.on_set_rules(message); }};
}

}  // namespace penstock::actors
