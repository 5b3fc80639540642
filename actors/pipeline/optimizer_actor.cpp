#include "actors/pipeline/optimizer_actor.hpp"

#include <utility>

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
  for (const graph::VariablePlan& variable : setup.arena->stage().variables) {
    if (variable.owner != graph::none) owners.insert(variable.owner);
    for (const graph::CopyPlan& copy : variable.copies) copiers.insert(copy.stage);
  }
}

void OptimizerState::on_links(OptimizerLinks& message) {
  links = std::move(message);
  return_state();
}

BlockKey OptimizerState::key() const {
  return {HostClass::optimizer_state, setup.replica, setup.stage};
}

void OptimizerState::on_window_complete(const WindowComplete& window) {
  last_micro_batch = window.last_micro_batch;
  idle_since_ns = steady_ns();
  if (!links.reducer) return on_all_sums_complete();
  await(Awaited::replicas);
  self->send(links.reducer, SumsComplete{});
}

void OptimizerState::on_all_sums_complete() {
  for (const std::int32_t owner : owners)
    self->send(links.optimizers[static_cast<std::size_t>(owner)], TiedSumsComplete{});
  await(Awaited::tied_sums);
  count_sums();
}

void OptimizerState::count_sums() {
  if (++sums_there <= copiers.size()) return;
  sums_there = 0;
  await(Awaited::nothing);
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
    letter.done.prepare([&] { return RoundDone{setup.replica, setup.stage}; });
    if (setup.update->measures(static_cast<UpdateRound>(i)))
      setup.update->make_room(letter.done.message().norms);
  }
}

void OptimizerState::on_update_order(UpdateOrder& order) {
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
      for (const std::int32_t stage : copiers)
        from.push_back(subject_of(setup.replica, static_cast<std::size_t>(stage)));
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
      return "the gradient sums of " + std::to_string(copiers.size() + 1 - sums_there) + " of " +
             std::to_string(copiers.size()) + " stages that have copies of its parameters";
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
  if (done.round == UpdateRound::reduce && reduces_ahead())
    prepare();
  else
    end_round(done.round);
}

void OptimizerState::on_release() {
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
          [=](const TiedSumsComplete&) { self->state.on_tied_sums_complete(); },
          [=](UpdateOrder& order) { self->state.on_update_order(order); },
          [=](const UpdateDone& done) { self->state.on_update_done(done); },
          [=](const Release&) { self->state.on_release(); },
          [=](const SetRules& message) { self->state.on_set_rules(message); },
          [=](const ExplainWait& question) { self->state.on_explain_wait(question); }};
}

}  // namespace penstock::actors
