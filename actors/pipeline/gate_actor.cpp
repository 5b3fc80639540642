#include "actors/pipeline/gate_actor.hpp"

#include <algorithm>

#include "actors/messages/out_of_turn.hpp"
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
  norms.emplace(setup, *rules);
  heard.assign(setup->stages() * static_cast<std::size_t>(setup->replicas), false);
  orders.resize(heard.size());
}

void GateState::prepare_rounds() {
  for (Orders& letters : orders) {
    for (Letter<UpdateOrder>& letter : letters) letter.prepare([] { return UpdateOrder{}; });
    if (norms->any_followed())
      letters[static_cast<std::size_t>(UpdateRound::apply)].message().directions.reserve(
          setup->plan->variables.size());
  }
}

void GateState::on_gradients_ready(const GradientsReady& message) {
  expect_stage(*setup, message.replica, message.stage, "GradientsReady");
  if (in_update || !awaits(position_of(message.replica, message.stage)))
    refuse("GradientsReady", message.replica, message.stage);
  if (!hear(message.replica, message.stage)) return;
  prepare_rounds();
  if (!updates->begin()) return;
  clip_factor = 1;
  begin_round(setup->replicas > 1 && one_by_one() ? UpdateRound::reduce : first_with_sums());
}

UpdateRound GateState::first_with_sums() const {
  if (rules->max_grad_norm > 0) return UpdateRound::measure;
  return norms->any_followed() ? UpdateRound::follow : UpdateRound::apply;
}

std::size_t GateState::position_of(std::int32_t replica, std::int32_t stage) const {
  return static_cast<std::size_t>(replica) * setup->stages() + static_cast<std::size_t>(stage);
}

void GateState::refuse(const std::string& name, std::int32_t replica, std::int32_t stage) const {
  const std::string wait = waits_for().text;
  throw out_of_turn(name + " of " + stage_name(*setup, replica, static_cast<std::size_t>(stage)),
                    "the gate " + (wait.empty() ? "waits for complete gradients" : wait));
}

// If the stages do a round one after another, they do it in the order of `links`.
bool GateState::awaits(std::size_t optimizer) const {
  return !heard[optimizer] && (!in_update || !one_by_one() || optimizer == answers);
}

bool GateState::hear(std::int32_t replica, std::int32_t stage) {
  heard[position_of(replica, stage)] = true;
  since_ns = steady_ns();
  if (++answers < heard.size()) return false;
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
  if (norms->any_followed() && round == UpdateRound::apply) order.directions = norms->directions();
  letter.send(links.optimizers[optimizer], self->context());
}

void GateState::on_round_done(RoundDone& answer) {
  expect_stage(*setup, answer.replica, answer.stage, "RoundDone");
  if (!in_update || answer.round != round || !awaits(position_of(answer.replica, answer.stage)))
    refuse("RoundDone for the round " + name_of(answer.round), answer.replica, answer.stage);
  if (round == UpdateRound::measure || round == UpdateRound::follow)
    norms->take(round, answer.replica, answer.stage, answer.norms);
  if (hear(answer.replica, answer.stage))
    end_round();
  else if (one_by_one())
    send_order(answers);
}

void GateState::end_round() {
  if (setup->host_trace)
    setup->host_trace->record({.actor = HostActor::gate, .begin_ns = round_begin_ns});
  switch (round) {
    case UpdateRound::reduce:
      return begin_round(first_with_sums());
    case UpdateRound::measure:
      norms->add_up(round);
      clip_factor =
          graph::clip_factor(norms->gradients(), rules->max_grad_norm, rules->exact_max_grad_norm);
      return begin_round(norms->any_followed() ? UpdateRound::follow : UpdateRound::apply);
    case UpdateRound::follow:
      norms->add_up(round);
      return begin_round(UpdateRound::apply);
    case UpdateRound::apply:
      return norms->any_sharded() ? begin_round(UpdateRound::gather) : release();
    case UpdateRound::gather:
      return release();
  }
}

void GateState::release() {
  in_update = false;
  count_others();
  updates->end();
  for (const OptimizerHandle& optimizer : links.optimizers) self->send(optimizer, Release{});
}

// Nobody takes the count for final before the update has ended. In this process, a stage has been
// counted by its IPU.
void GateState::count_others() const {
  for (std::size_t stage = 0; stage < setup->stages(); ++stage)
    if (!setup->is_here(stage))
      for (std::int64_t replica = 0; replica < setup->replicas; ++replica)
        setup->update_count->count_stage();
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
    if (!awaits(i)) continue;
    const auto replica = static_cast<std::int64_t>(i / setup->stages());
    const std::string stage = stage_name(*setup, replica, i % setup->stages());
    late += (late.empty() ? "" : ", ") + stage;
    from.push_back("optimizer of " + stage);
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
