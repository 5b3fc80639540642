#include "actors/pipeline/optimizer_actor.hpp"

#include "actors/system/errors.hpp"

namespace penstock::actors {

void OptimizerState::start(OptimizerHandle::pointer actor, OptimizerSetup given) {
  self = actor;
  setup = std::move(given);
  for (const graph::VariablePlan& variable : setup.arena->stage().variables) {
    if (variable.owner != graph::none) owners.insert(variable.owner);
    for (const graph::CopyPlan& copy : variable.copies) copiers.insert(copy.stage);
  }
}

void OptimizerState::on_links(OptimizerLinks& given) {
  links = std::move(given);
  return_state();
  expect_shards();
}

void OptimizerState::expect_shards() {
  may_gather = false;
  if (!setup.update->gathers()) return;
  for (std::int32_t replica = 0; replica < std::ssize(links.replicas); ++replica)
    if (replica != setup.replica) shards_missing.insert(replica);
}

BlockKey OptimizerState::key() const {
  return {HostClass::optimizer_state, setup.replica, setup.stage};
}

void OptimizerState::on_window_complete(const WindowComplete& window) {
  update_number = window.update;
  if (links.reducer)
    self->send(links.reducer, Contribution{setup.replica, self, setup.arena});
  else
    use_sums(nullptr);
}

void OptimizerState::on_reduced(const Reduced& reduced) {
  use_sums(reduced.sums);
}

void OptimizerState::use_sums(std::shared_ptr<const ReducedSums> reduced) {
  const StageSums own{setup.arena, std::move(reduced)};
  for (const std::int32_t owner : owners)
    self->send(links.optimizers[static_cast<std::size_t>(owner)], TiedSums{setup.stage, own});
  setup.update->set_sums(setup.stage, own);
  count_sums();
}

void OptimizerState::on_tied_sums(TiedSums& tied) {
  setup.update->set_sums(tied.stage, std::move(tied.sums));
  count_sums();
}

void OptimizerState::count_sums() {
  if (++sums_there <= copiers.size()) return;
  sums_there = 0;
  self->send(links.gate, GradientsReady{});
}

void OptimizerState::on_update_order(const UpdateOrder& order) {
  setup.update->set_clip_factor(order.clip_factor);
  setup.update->set_directions(order.directions);
  switch (order.phase) {
    case UpdatePhase::reduce:
      if (!setup.update->reduces()) return end_phase({});
      return run(UpdatePhase::reduce);
    case UpdatePhase::measure:
      return run(UpdatePhase::measure);
    case UpdatePhase::follow:
      if (!setup.update->follows()) return end_phase({});
      return with_state([this] { run(UpdatePhase::follow); });
    case UpdatePhase::apply:
      return with_state([this] { run(UpdatePhase::apply); });
    case UpdatePhase::gather:
      if (!setup.update->gathers()) return end_phase({});
      may_gather = true;
      return gather();
  }
}

void OptimizerState::on_shard_ready(ShardReady& shard) {
  setup.update->set_shard(shard.replica, std::move(shard.arena));
  shards_missing.erase(shard.replica);
  gather();
}

void OptimizerState::gather() {
  if (may_gather && shards_missing.empty()) run(UpdatePhase::gather);
}

void OptimizerState::end_phase(PhaseDone&& done) {
  done.replica = setup.replica;
  self->send(links.gate, std::move(done));
}

void OptimizerState::with_state(const std::function<void()>& work) {
  if (!setup.update->uses_host_store()) return work();
  fetching = true;  // as long as it takes: the watchdog sees it
  self->request(links.host_store, caf::infinite, FetchBlock{key()})
      .then(
          [this, work](FetchedBlock& fetched) {
            fetching = false;
            setup.update->lend_host_state(std::move(fetched.block));
            work();
          },
          [this](caf::error& error) {
            const Error cause = to_error(error);
            self->send(
                links.supervisor,
                Failed{{cause.code(),
                        who() + ": its optimizer state is not in the host store: " + cause.what(),
                        true}});
          });
}

void OptimizerState::return_state() {
  if (setup.update->has_host_state())
    self->send(links.host_store, StoreBlock{key(), setup.update->return_host_state()});
}

void OptimizerState::on_explain_wait() {
  const std::string what = waits_for();
  self->send(links.supervisor,
             WaitsFor{what.empty() ? "" : "optimizer of " + who() + " waits for " + what});
}

std::string OptimizerState::waits_for() const {
  if (fetching) return "its state from the host store";
  if (!may_gather || shards_missing.empty()) return "";
  return "shard " + std::to_string(*shards_missing.begin()) + " of the new weights";
}

std::string OptimizerState::who() const {
  return stage_name(*setup.pipeline, setup.replica, static_cast<std::size_t>(setup.stage));
}

void OptimizerState::run(UpdatePhase phase) {
  self->send(links.device, RunUpdate{self, setup.update, phase, who(), setup.replica, setup.stage});
}

void OptimizerState::on_update_done(const UpdateDone& done) {
  work.push_back({.ipu = setup.pipeline->ipu(setup.replica, static_cast<std::size_t>(setup.stage)),
                  .replica = setup.replica,
                  .stage = setup.stage,
                  .activity = Activity::update,
                  .micro_batch = (update_number + 1) * setup.pipeline->gradient_accumulation - 1,
                  .begin_ns = done.begin_ns,
                  .end_ns = done.end_ns});
  switch (done.phase) {
    case UpdatePhase::reduce:
      return end_phase({});
    case UpdatePhase::measure:
      return end_phase({0, setup.update->squared_norms(), setup.update->take_shard_norms()});
    case UpdatePhase::follow:
      return_state();
      return end_phase({0, {}, setup.update->take_shard_norms()});
    case UpdatePhase::apply:
      return_state();
      send_shard();
      return end_phase({});
    case UpdatePhase::gather:
      expect_shards();
      return end_phase({});
  }
}

void OptimizerState::send_shard() {
  if (!setup.update->gathers()) return;
  for (std::int32_t replica = 0; replica < std::ssize(links.replicas); ++replica)
    if (replica != setup.replica)
      self->send(links.replicas[static_cast<std::size_t>(replica)],
                 ShardReady{setup.replica, setup.arena});
}

void OptimizerState::on_release() {
  self->send(links.stage, WeightsReady{std::move(work), setup.update->state_moves(),
                                       setup.update->collectives()});
  work.clear();
}

OptimizerHandle::behavior_type optimizer_actor(
    OptimizerHandle::stateful_pointer<OptimizerState> self, OptimizerSetup setup) {
  self->state.start(self, std::move(setup));
  return {[=](OptimizerLinks& links) { self->state.on_links(links); },
          [=](const WindowComplete& window) { self->state.on_window_complete(window); },
          [=](const Reduced& reduced) { self->state.on_reduced(reduced); },
          [=](TiedSums& tied) { self->state.on_tied_sums(tied); },
          [=](const UpdateOrder& order) { self->state.on_update_order(order); },
          [=](const UpdateDone& done) { self->state.on_update_done(done); },
          [=](ShardReady& shard) { self->state.on_shard_ready(shard); },
          [=](const Release&) { self->state.on_release(); },
          [=](const SetRules& message) { self->state.on_set_rules(message); },
          [=](const ExplainWait&) { self->state.on_explain_wait(); }};
}

}  // namespace penstock::actors
