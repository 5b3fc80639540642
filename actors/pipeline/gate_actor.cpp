#include "actors/pipeline/gate_actor.hpp"

#include <algorithm>

#include "actors/pipeline/explained_wait.hpp"
#include "graph/plan/optimizers/norm.hpp"
#include "graph/values/stopwatch.hpp"

namespace penstock::actors {

void GateState::start(GateHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline,
                      std::shared_ptr<UpdateLatch> latch,
                      std::shared_ptr<const UpdateRules> first_rules) {
  self = actor;
  setup = std::move(pipeline);
  updates = std::move(latch);
  rules = std::move(first_rules);
  squared_norms.assign(setup->plan->variables.size(), 0.0);
  directions = squared_norms;
  shard_norms.resize(squared_norms.size());
  for (std::size_t i = 0; i < squared_norms.size(); ++i) {
    const graph::ParameterRule& rule = rules->variables[i];
    const graph::VariableInfo& variable = setup->plan->variables[i];
    if (!variable.trainable || !is_sharded(*setup, rule, variable.type.shape.elements())) continue;
    gathers = true;
    shard_norms[i].assign(static_cast<std::size_t>(setup->replicas), nullptr);
    follows = follows || rule.rule->in_shards;
  }
}

void GateState::on_links(GateLinks& message) {
  links = std::move(message);
  orders = std::vector<Orders>(links.optimizers.size());
  reported_shards.resize(links.optimizers.size());
  heard.assign(links.optimizers.size(), false);
}

void GateState::prepare_rounds() {
  for (Orders& letters : orders) {
    for (Letter<UpdateOrder>& letter : letters) letter.prepare([] { return UpdateOrder{}; });
    if (follows)
      letters[static_cast<std::size_t>(UpdateRound::apply)].message().directions.reserve(
          directions.size());
  }
}

void GateState::on_gradients_ready(const GradientsReady& message) {
  if (!hear(message.replica, message.stage)) return;
  prepare_rounds();
  if (!updates->begin()) return;
  clip_factor = 1;
  begin_round(setup->replicas > 1 && one_by_one() ? UpdateRound::reduce : first_with_sums());
}

UpdateRound GateState::first_with_sums() const {
  if (rules->max_grad_norm > 0) return UpdateRound::measure;
  return follows ? UpdateRound::follow : UpdateRound::apply;
}

std::size_t GateState::position_of(std::int32_t replica, std::int32_t stage) const {
  return static_cast<std::size_t>(replica) * setup->stages() + static_cast<std::size_t>(stage);
}

bool GateState::hear(std::int32_t replica, std::int32_t stage) {
  heard[position_of(replica, stage)] = true;
  since_ns = steady_ns();
  if (++answers < links.optimizers.size()) return false;
  answers = 0;
  std::fill(heard.begin(), heard.end(), false);
  return true;
}

void GateState::begin_round(UpdateRound next) {
  in_update = true;
  round = next;
  round_begin_ns = steady_ns();
  const std::size_t first = one_by_one() ? 1 : links.optimizers.size();
  for (std::size_t i = 0; i < first; ++i) send_order(i);
}

void GateState::send_order(std::size_t optimizer) {
  Letter<UpdateOrder>& letter = orders[optimizer][static_cast<std::size_t>(round)];
  UpdateOrder& order = letter.message();
  order.round = round;
  order.clip_factor = clip_factor;
  if (follows && round == UpdateRound::apply) order.directions = directions;
  letter.send(links.optimizers[optimizer], self->context());
}

void GateState::on_round_done(RoundDone& answer) {
  note_norms(answer);
  if (hear(answer.replica, answer.stage))
    end_round();
  else if (one_by_one())
    send_order(answers);
}

// The norms are moved out of `answer` and not copied, because an update allocates nothing.
void GateState::note_norms(RoundDone& answer) {
  const auto replica = static_cast<std::size_t>(answer.replica);
  if (round == UpdateRound::measure && replica == 0)
    for (const VariableNorm& norm : answer.norms.whole)
      squared_norms[static_cast<std::size_t>(norm.variable)] = norm.squared;
  if (answer.norms.shards.empty()) return;
  auto& shards = reported_shards[position_of(answer.replica, answer.stage)];
  shards = std::move(answer.norms.shards);
  for (const ShardNorm& norm : shards)
    shard_norms[static_cast<std::size_t>(norm.variable)][replica] = &norm.part;
}

void GateState::end_round() {
  if (setup->host_trace)
    setup->host_trace->record({.actor = HostActor::gate, .begin_ns = round_begin_ns});
  switch (round) {
    case UpdateRound::reduce:
      return begin_round(first_with_sums());
    case UpdateRound::measure:
      add_up(squared_norms);
      clip_factor =
          graph::clip_factor(squared_norms, rules->max_grad_norm, rules->exact_max_grad_norm);
      return begin_round(follows ? UpdateRound::follow : UpdateRound::apply);
    case UpdateRound::follow:
      add_up(directions);
      return begin_round(UpdateRound::apply);
    case UpdateRound::apply:
      return gathers ? begin_round(UpdateRound::gather) : release();
    case UpdateRound::gather:
      return release();
  }
}

void GateState::add_up(std::vector<double>& of_variables) const {
  for (std::size_t i = 0; i < shard_norms.size(); ++i)
    if (!shard_norms[i].empty() && shard_norms[i].front())
      of_variables[i] =
          graph::squared_norm(shard_norms[i], setup->plan->variables[i].type.shape.elements());
}

void GateState::release() {
  in_update = false;
  updates->end();
  for (const OptimizerHandle& optimizer : links.optimizers) self->send(optimizer, Release{});
}

void GateState::on_explain_wait(const ExplainWait& question) const {
  explain_wait(self, links.supervisor, question, [this] { return waits_for(); });
}

/// Before the first gradients of a window are complete, the gate reports no wait, because the
/// stages explain why gradients are missing. If the stages do a round one after another, the gate
/// waits only for the stage whose turn it is.
Wait GateState::waits_for() const {
  Wait wait{.actor = "gate"};
  if (!in_update && answers == 0) return wait;
  std::string late;
  std::vector<std::string>& from = wait.ways.emplace_back();
  for (std::size_t i = 0; i < heard.size(); ++i) {
    if (heard[i]) continue;
    const auto replica = static_cast<std::int64_t>(i / setup->stages());
    const std::string stage = stage_name(*setup, replica, i % setup->stages());
    late += (late.empty() ? "" : ", ") + stage;
    from.push_back("optimizer of " + stage);
    if (in_update && one_by_one()) break;
  }
  wait.text = in_update ? "waits for the round " + name_of(round) + " of the weight update of "
                        : "waits for the complete gradients of ";
  wait.text += late;
  wait.since_ns = since_ns;
  return wait;
}

GateHandle::behavior_type gate_actor(GateHandle::stateful_pointer<GateState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<UpdateLatch> updates,
                                     std::shared_ptr<const UpdateRules> rules) {
  self->state.start(self, std::move(setup), std::move(updates), std::move(rules));
  return {[=](GateLinks& links) { self->state.on_links(links); },
          [=](const GradientsReady& ready) { self->state.on_gradients_ready(ready); },
          [=](RoundDone& done) { self->state.on_round_done(done); },
          [=](const SetRules& message) { self->state.on_set_rules(message); },
          [=](const ExplainWait& question) { self->state.on_explain_wait(question); }};
}

}  // namespace penstock::actors
