#include "actors/pipeline/part_actor.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "penstock/error.hpp"

namespace penstock::actors {
namespace {

/// Returns whether an optimizer that follows `before` can follow `after` with the state that it
/// has.
bool need_same_state(const graph::ParameterRule& before, const graph::ParameterRule& after) {
  if (!before.rule || !after.rule) return before.rule == after.rule;
  return before.rule == after.rule &&
         before.rule->state(before.hyper) == after.rule->state(after.hyper);
}

}  // namespace

void PartState::check(const UpdateRules& fresh) const {
  if (!std::ranges::equal(rules->variables, fresh.variables, need_same_state))
    throw Error(Errc::internal,
                "the message NewRules has rules for other variables or another state than those of "
                "the optimizers");
  for (const double number : {fresh.max_grad_norm, fresh.loss_scaling})
    if (!std::isfinite(number) || number < 0)
      throw Error(Errc::internal,
                  "the message NewRules: expected a norm and a factor of the loss "
                  "that are finite and not negative, got " +
                      std::to_string(number));
}

void PartState::on_new_rules(NewRules& message) {
  check(message.rules);
  rules = std::make_shared<const UpdateRules>(std::move(message.rules));
  setup->constants->set_loss_scale(constants_of(*rules).loss_scale);
  for (const OptimizerHandle& optimizer : links.optimizers) self->send(optimizer, SetRules{rules});
  self->send(links.step, RulesTaken{setup->process});
}

PartHandle::behavior_type part_actor(PartHandle::stateful_pointer<PartState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<const UpdateRules> rules) {
  self->state.self = self;
  self->state.setup = std::move(setup);
  self->state.rules = std::move(rules);
  return {[=](PartLinks& links) { self->state.on_links(links); },
          [=](NewRules& message) { self->state.on_new_rules(message); }};
}

}  // namespace penstock::actors
