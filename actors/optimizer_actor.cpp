#include "actors/optimizer_actor.hpp"

#include <chrono>

#include "actors/base_init.hpp"
#include "actors/errors.hpp"

namespace penstock::actors {
namespace {

constexpr std::chrono::seconds host_store_timeout{60};

}  // namespace

void OptimizerState::start(OptimizerHandle::pointer actor, OptimizerSetup given) {
  self = actor;
  setup = std::move(given);
}

void OptimizerState::on_links(OptimizerLinks& given) {
  links = std::move(given);
  if (links.host_store)
    self->send(links.host_store, StoreState{key(), setup.update->new_state()});
  else
    setup.update->set_state(setup.update->new_state());
}

std::int64_t OptimizerState::key() const {
  return setup.replica * static_cast<std::int64_t>(setup.pipeline->stages()) + setup.stage;
}

void OptimizerState::on_window_complete(const WindowComplete& window) {
  update_number = window.update;
  busy_seconds = 0;
  if (links.reducer)
    self->send(links.reducer, Contribution{setup.replica, self, setup.arena});
  else
    use_sums({setup.arena, setup.arena->accumulators().data()});
}

void OptimizerState::on_reduced(const Reduced& reduced) {
  use_sums(reduced.sums);
}

void OptimizerState::use_sums(std::shared_ptr<const std::byte> sums) {
  setup.update->set_sums(std::move(sums));
  if (setup.update->clips())
    run(UpdatePhase::measure);
  else
    self->send(links.gate, GradientsReady{setup.replica, setup.stage, update_number, {}});
}

void OptimizerState::on_apply_update(const ApplyUpdate& apply) {
  setup.update->set_clip_factor(apply.clip_factor);
  if (links.host_store)
    fetch_state();
  else
    run(UpdatePhase::apply);
}

void OptimizerState::fetch_state() {
  self->request(links.host_store, host_store_timeout, FetchState{key()})
      .then([this](FetchedState& fetched) { on_fetched_state(fetched); },
            [this](caf::error& error) {
              const Error cause = to_error(error);
              self->send(
                  links.supervisor,
                  Failed{{cause.code(),
                          stage_name(*setup.pipeline, setup.replica,
                                     static_cast<std::size_t>(setup.stage)) +
                              ": its optimizer state is not in the host store: " + cause.what()}});
            });
}

void OptimizerState::on_fetched_state(FetchedState& fetched) {
  setup.update->set_state(std::move(fetched.state));
  run(UpdatePhase::apply);
}

void OptimizerState::run(UpdatePhase phase) {
  self->send(links.device, RunUpdate{self, setup.update, phase,
                                     stage_name(*setup.pipeline, setup.replica,
                                                static_cast<std::size_t>(setup.stage))});
}

void OptimizerState::on_update_done(const UpdateDone& done) {
  busy_seconds += static_cast<double>(done.end_ns - done.begin_ns) * 1e-9;
  if (done.phase == UpdatePhase::measure) {
    self->send(links.gate, GradientsReady{setup.replica, setup.stage, update_number,
                                          setup.update->squared_norms()});
    return;
  }
  if (links.host_store) self->send(links.host_store, StoreState{key(), setup.update->take_state()});
  self->send(links.stage, WeightsReady{busy_seconds});
  self->send(links.gate, UpdateApplied{update_number});
}

OptimizerHandle::behavior_type optimizer_actor(
    OptimizerHandle::stateful_pointer<OptimizerState> self, OptimizerSetup setup) {
  base_init(self);
  self->state.start(self, std::move(setup));
  return {[=](OptimizerLinks& links) { self->state.on_links(links); },
          [=](const WindowComplete& window) { self->state.on_window_complete(window); },
          [=](const Reduced& reduced) { self->state.on_reduced(reduced); },
          [=](const ApplyUpdate& apply) { self->state.on_apply_update(apply); },
          [=](const UpdateDone& done) { self->state.on_update_done(done); },
          [=](const SetRules& message) { self->state.on_set_rules(message); }};
}

}  // namespace penstock::actors
