#include "actors/pipeline/gate_actor.hpp"

#include "graph/optimizers/norm.hpp"

namespace penstock::actors {

void GateState::start(GateHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline,
                      std::shared_ptr<const UpdateRules> first_rules) {
  self = actor;
  setup = std::move(pipeline);
  rules = std::move(first_rules);
  squared_norms.assign(setup->plan->variables.size(), 0.0);
  for (std::size_t i = 0; i < squared_norms.size(); ++i) {
    const graph::ParameterRule& rule = rules->variables[i];
    const graph::VariableInfo& variable = setup->plan->variables[i];
    if (!variable.trainable || !divided(*setup, rule, variable.type.shape.elements())) continue;
    gathers = true;
    follows = follows || rule.rule->in_shards;
  }
}

void GateState::on_gradients_ready() {
  if (++ready < links.optimizers.size()) return;
  ready = 0;
  if (!setup->host->update_begins()) return;
  begin_round({.phase = setup->replicas > 1 ? UpdatePhase::reduce : first_with_sums()});
}

UpdatePhase GateState::first_with_sums() const {
  if (rules->max_grad_norm > 0) return UpdatePhase::measure;
  return follows ? UpdatePhase::follow : UpdatePhase::apply;
}

void GateState::begin_round(const UpdateOrder& order) {
  round = order;
  done = 0;
  const std::size_t first = one_by_one() ? 1 : links.optimizers.size();
  for (std::size_t i = 0; i < first; ++i) self->send(links.optimizers[i], round);
}

void GateState::on_phase_done(PhaseDone& answer) {
  if (answer.replica == 0)
    for (const VariableNorm& norm : answer.squared_norms)
      squared_norms[static_cast<std::size_t>(norm.variable)] = norm.squared;
  for (ShardNorm& norm : answer.shard_norms) {
    std::vector<graph::NormPart>& parts = shard_norms[norm.variable];
    parts.resize(static_cast<std::size_t>(setup->replicas));
    parts[static_cast<std::size_t>(answer.replica)] = std::move(norm.part);
  }
  if (++done == links.optimizers.size())
    end_round();
  else if (one_by_one())
    self->send(links.optimizers[done], round);
}

void GateState::end_round() {
  UpdateOrder next = round;
  switch (round.phase) {
    case UpdatePhase::reduce:
      next.phase = first_with_sums();
      return begin_round(next);
    case UpdatePhase::measure:
      add_up(squared_norms);
      next.clip_factor =
          graph::clip_factor(squared_norms, rules->max_grad_norm, rules->exact_max_grad_norm);
      next.phase = follows ? UpdatePhase::follow : UpdatePhase::apply;
      return begin_round(next);
    case UpdatePhase::follow: {
      std::vector<double> directions(squared_norms.size());
      add_up(directions);
      next.directions = std::make_shared<const std::vector<double>>(std::move(directions));
      next.phase = UpdatePhase::apply;
      return begin_round(next);
    }
    case UpdatePhase::apply:
      if (!gathers) return release();
      next.phase = UpdatePhase::gather;
      return begin_round(next);
    case UpdatePhase::gather:
      return release();
  }
}

void GateState::add_up(std::vector<double>& of_variables) {
  for (const auto& [variable, parts] : shard_norms) {
    const auto position = static_cast<std::size_t>(variable);
    of_variables[position] =
        graph::squared_norm(parts, setup->plan->variables[position].type.shape.elements());
  }
  shard_norms.clear();
}

void GateState::release() {
  setup->host->update_ended();
  for (const OptimizerHandle& optimizer : links.optimizers) self->send(optimizer, Release{});
}

GateHandle::behavior_type gate_actor(GateHandle::stateful_pointer<GateState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<const UpdateRules> rules) {
  self->state.start(self, std::move(setup), std::move(rules));
  return {[=](GateLinks& links) { self->state.on_links(links); },
          [=](const GradientsReady&) { self->state.on_gradients_ready(); },
          [=](PhaseDone& done) { self->state.on_phase_done(done); },
          [=](const SetRules& message) { self->state.on_set_rules(message); }};
}

}  // namespace penstock::actors
