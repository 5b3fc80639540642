#include "actors/pipeline/optimizer_actor.hpp"

#include <algorithm>
#include <utility>

#include "actors/messages/out_of_turn.hpp"
#include "actors/pipeline/explained_wait.hpp"
#include "graph/values/stopwatch.hpp"

namespace penstock::actors {
namespace {

bool exchanges(UpdateRound round) {
  return round == UpdateRound::reduce || round == UpdateRound::gather;
}

std::int64_t bytes_of(const CollectiveReport& report) {
  return report.all_reduced_bytes + report.scattered_bytes + report.gathered_bytes;
}

}  // namespace

void OptimizerState::start(OptimizerHandle::pointer actor, OptimizerSetup new_setup) {
  self = actor;
  setup = std::move(new_setup);
  ipu = setup.pipeline->ipu(setup.replica, static_cast<std::size_t>(setup.stage));
  sums_there[setup.stage] = false;
  for (const graph::VariablePlan& variable : setup.arena->stage().variables) {
    if (variable.owner != graph::none) owners.insert(variable.owner);
    for (const graph::CopyPlan& copy : variable.copies) sums_there[copy.stage] = false;
  }
}

void OptimizerState::on_links(OptimizerLinks& message) {
  links = std::move(message);
  return_state();
}

BlockKey OptimizerState::key() const {
  return {HostClass::optimizer_state, setup.replica, setup.stage};
}

void OptimizerState::refuse(const std::string& message) const {
  const std::string awaits = awaited == Awaited::nothing ? "the end of a window" : waits_for();
  throw out_of_turn(message, "the optimizer waits for " + awaits);
}

void OptimizerState::on_set_rules(const SetRules& message) {
  if (awaited != Awaited::nothing) refuse("SetRules");
  setup.update->set_rules(message.rules);
}

void OptimizerState::on_window_complete(const WindowComplete& window) {
  if (awaited != Awaited::nothing) refuse("WindowComplete");
  last_micro_batch = window.last_micro_batch;
  idle_since_ns = steady_ns();
  if (!links.reducer) return use_sums();
  await(Awaited::replicas);
  self->send(links.reducer, SumsComplete{setup.replica});
}

void OptimizerState::on_all_sums_complete() {
  if (awaited != Awaited::replicas) refuse("AllSumsComplete");
  use_sums();
}

void OptimizerState::use_sums() {
  for (const std::int32_t owner : owners)
    self->send(links.optimizers[static_cast<std::size_t>(owner)], TiedSumsComplete{setup.stage});
  await(Awaited::tied_sums);
  note_sums(setup.stage);
}

void OptimizerState::on_tied_sums_complete(const TiedSumsComplete& message) {
  const auto sums = sums_there.find(message.stage);
  if (sums == sums_there.end() || message.stage == setup.stage || sums->second ||
      !may_have_tied_sums())
    refuse("TiedSumsComplete of stage " + std::to_string(message.stage));
  note_sums(message.stage);
}

// Once the sums are in use, no stage completes others before the update is done.
bool OptimizerState::may_have_tied_sums() const {
  return awaited == Awaited::nothing || awaited == Awaited::replicas ||
         awaited == Awaited::tied_sums;
}

void OptimizerState::note_sums(std::int32_t stage) {
  sums_there[stage] = true;
  if (!std::ranges::all_of(sums_there, [](const auto& sums) { return sums.second; })) return;
  for (auto& sums : sums_there) sums.second = false;
  await(Awaited::nothing);
  last_done.reset();
  if (!reduces_ahead()) return prepare();
  write_letters();
  UpdateOrder ahead{.round = UpdateRound::reduce};
  run(ahead);
}

bool OptimizerState::reduces_ahead() const {
  return setup.update->reduces() && !setup.pipeline->plan->schedule->one_at_a_time;
}

void OptimizerState::prepare() {
  if (setup.update->uses_host_store())
    fetch_state();
  else
    be_ready();
}

void OptimizerState::be_ready() {
  write_letters();
  work.reserve(update_rounds);
  await(Awaited::gate);
  self->send(links.gate, GradientsReady{setup.replica, setup.stage});
}

void OptimizerState::write_letters() {
  for (std::size_t i = 0; i < update_rounds; ++i) {
    RoundLetters& letter = letters[i];
    letter.run.prepare([&] {
      auto answer = std::make_shared<Letter<UpdateDone>>();
      answer->prepare([] { return UpdateDone{}; });
      return RunUpdate{.optimizer = self,
                       .update = setup.update,
                       .subject = subject(),
                       .replica = setup.replica,
                       .stage = setup.stage,
                       .answer = std::move(answer)};
    });
    const auto round = static_cast<UpdateRound>(i);
    letter.done.prepare([&] { return RoundDone{round, setup.replica, setup.stage}; });
    if (setup.update->measures(round)) setup.update->make_room(letter.done.message().norms);
  }
}

void OptimizerState::on_update_order(UpdateOrder& order) {
  if (awaited != Awaited::gate || !setup.update->may_run(order, last_done))
    refuse("UpdateOrder for the round " + name_of(order.round));
  switch (order.round) {
    case UpdateRound::reduce:
      return setup.update->reduces() ? run(order) : end_round(order.round);
    case UpdateRound::follow:
      return setup.update->follows() ? run(order) : end_round(order.round);
    case UpdateRound::gather:
      return setup.update->gathers() ? run(order) : end_round(order.round);
    case UpdateRound::measure:
    case UpdateRound::apply:
      return run(order);
  }
}

void OptimizerState::end_round(UpdateRound round) {
  last_done = round;
  Letter<RoundDone>& letter = letters[static_cast<std::size_t>(round)].done;
  if (setup.update->measures(round)) setup.update->exchange_norms(letter.message().norms);
  await(Awaited::gate);
  letter.send(links.gate, self->context());
}

void OptimizerState::fetch_state() {
  await(Awaited::state);
  state.fetch(
      self, links, key(), [this] { return subject(); },
      [this](std::shared_ptr<std::byte> block) {
        fetch_ns = steady_ns() - since_ns;
        await(Awaited::nothing);
        setup.update->lend_host_state(std::move(block));
        be_ready();
      });
}

void OptimizerState::return_state() {
  if (setup.update->has_host_state())
    self->send(links.host_store, StoreBlock{key(), setup.update->return_host_state()});
}

void OptimizerState::on_explain_wait(const ExplainWait& question) const {
  explain_wait(self, links.supervisor, question, [this] {
    Wait wait{.actor = "optimizer of " + subject()};
    if (awaited == Awaited::nothing) return wait;
    wait.text = "waits for " + waits_for();
    wait.ways = {awaited_from()};
    wait.since_ns = since_ns;
    return wait;
  });
}

void OptimizerState::await(Awaited what) {
  awaited = what;
  since_ns = steady_ns();
}

std::vector<std::string> OptimizerState::awaited_from() const {
  const auto subject_of = [this](std::int64_t replica, std::size_t stage) {
    return "optimizer of " + stage_name(*setup.pipeline, replica, stage);
  };
  std::vector<std::string> from;
  switch (awaited) {
    case Awaited::nothing:
      break;
    case Awaited::replicas:
      from.push_back("reducer of stage " + std::to_string(setup.stage));
      break;
    case Awaited::tied_sums:
      for (const auto& [stage, there] : sums_there)
        if (!there) from.push_back(subject_of(setup.replica, static_cast<std::size_t>(stage)));
      break;
    case Awaited::state:
      from.emplace_back("host store");
      break;
    case Awaited::ipu:
      from.push_back("IPU " + std::to_string(ipu));
      break;
    case Awaited::gate:
      from.emplace_back("gate");
      break;
  }
  return from;
}

std::string OptimizerState::waits_for() const {
  switch (awaited) {
    case Awaited::nothing:
      return "";
    case Awaited::replicas:
      return "the gradient sums of the other replicas";
    case Awaited::tied_sums:
      return "the gradient sums of " +
             std::to_string(std::ranges::count(sums_there, false, &SumsThere::value_type::second)) +
             " of " + std::to_string(sums_there.size() - 1) +
             " stages that have copies of its parameters";
    case Awaited::state:
      return "its state from the host store";
    case Awaited::ipu:
      return "its IPU, which has the round " + name_of(running) + " of its weight update";
    case Awaited::gate:
      return "the gate, which all stages pass together";
  }
  return "";
}

std::string OptimizerState::subject() const {
  return stage_name(*setup.pipeline, setup.replica, static_cast<std::size_t>(setup.stage));
}

void OptimizerState::run(UpdateOrder& order) {
  Letter<RunUpdate>& letter = letters[static_cast<std::size_t>(order.round)].run;
  running = order.round;
  ready_ns = steady_ns();
  const std::int64_t fetched_ns = std::exchange(fetch_ns, 0);
  const bool of_store = fetched_ns > ready_ns - idle_since_ns - fetched_ns;
  waited_for = of_store ? WaitReason::host_store : WaitReason::gate;
  letter.message().order = std::move(order);
  await(Awaited::ipu);
  letter.send(links.device, self->context());
}

void OptimizerState::on_update_done(const UpdateDone& done) {
  if (awaited != Awaited::ipu || done.round != running)
    refuse("UpdateDone for the round " + name_of(done.round));
  await(Awaited::nothing);
  idle_since_ns = since_ns;
  const std::int64_t exchanged_before =
      std::exchange(exchanged_bytes, bytes_of(setup.update->collectives()));
  work.push_back({.ipu = ipu,
                  .replica = setup.replica,
                  .stage = setup.stage,
                  .activity = exchanges(done.round) ? Activity::exchange : Activity::update,
                  .waited_for = waited_for,
                  .micro_batch = last_micro_batch,
                  .ready_ns = ready_ns,
                  .begin_ns = done.begin_ns,
                  .end_ns = done.end_ns,
                  .bytes = exchanged_bytes - exchanged_before});
  if (done.round != UpdateRound::reduce || !reduces_ahead()) return end_round(done.round);
  last_done = done.round;
  prepare();
}

void OptimizerState::on_release() {
  if (awaited != Awaited::gate || !setup.update->is_done_after(last_done)) refuse("Release");
  await(Awaited::nothing);
  return_state();
  self->send(links.stage, WeightsReady{std::move(work), setup.update->state_moves(),
                                       setup.update->collectives()});
  work.clear();
}

OptimizerHandle::behavior_type optimizer_actor(
    OptimizerHandle::stateful_pointer<OptimizerState> self, OptimizerSetup setup) {
  self->state.start(self, std::move(setup));
  return {[=](OptimizerLinks& links) { self->state.on_links(links); },
          [=](const WindowComplete& window) { self->state.on_window_complete(window); },
          [=](const AllSumsComplete&) { self->state.on_all_sums_complete(); },
          [=](const TiedSumsComplete& sums) { self->state.on_tied_sums_complete(sums); },
          [=](UpdateOrder& order) { self->state.on_update_order(order); },
          [=](const UpdateDone& done) { self->state.on_update_done(done); },
          [=](const Release&) { self->state.on_release(); },
          [=](const SetRules& message) { self->state.on_set_rules(message); },
          [=](const ExplainWait& question) { self->state.on_explain_wait(question); }};
}

}  // namespace penstock::actors
