#include "actors/supervisor_actor.hpp"

#include <algorithm>
#include <chrono>

#include "actors/base_init.hpp"
#include "actors/errors.hpp"

namespace penstock::actors {
namespace {

/// Actors that cannot answer within this are named as silent.
constexpr std::chrono::seconds answer_time{1};

}  // namespace

void SupervisorState::start(SupervisorHandle::pointer actor,
                            std::shared_ptr<const PipelineSetup> pipeline) {
  self = actor;
  setup = std::move(pipeline);
}

void SupervisorState::on_links(SupervisorLinks& given) {
  links = std::move(given);
  for (const caf::actor& child : links.children) self->monitor(child);
}

void SupervisorState::on_failed(const Failed& failed) {
  if (setup->log) setup->log(failed.failure.text);
  setup->host->fail(failed.failure);
}

void SupervisorState::on_down(const caf::error& reason) {
  if (!reason) return;  // it was asked to end
  const Error error = to_error(reason);
  on_failed(Failed{{error.code(), error.what()}});
}

void SupervisorState::on_watch_call() {
  if (watching) return;
  watching = true;
  tick_later();
}

void SupervisorState::tick_later() {
  const auto interval = std::chrono::duration<double>(setup->stall_seconds);
  self->delayed_send(self, std::chrono::duration_cast<std::chrono::nanoseconds>(interval),
                     WatchTick{setup->host->progressed()});
}

// Progress is compared over a whole interval, so a stall is reported after one to two of them.
void SupervisorState::on_watch_tick(const WatchTick& tick) {
  if (asking) {
    report_stall();
    return;
  }
  watching = setup->host->in_call();
  if (!watching) return;
  if (setup->host->progressed() != tick.progressed)
    tick_later();
  else
    ask_what_is_awaited();
}

void SupervisorState::ask_what_is_awaited() {
  asking = true;
  waits.clear();
  self->send(links.feed, ExplainWait{});
  for (const StageHandle& stage : links.stages) self->send(stage, ExplainWait{});
  self->delayed_send(self, answer_time, WatchTick{});
}

void SupervisorState::on_waits_for(WaitsFor& answer) {
  waits.push_back(std::move(answer.text));
  if (asking && waits.size() == links.stages.size() + 1) report_stall();
}

void SupervisorState::report_stall() {
  asking = false;
  watching = false;
  if (!setup->host->in_call()) return;
  std::sort(waits.begin(), waits.end());
  std::string text = "nothing has moved for " + std::to_string(setup->stall_seconds) + " s";
  for (const std::string& one : waits) text += "; " + one;
  const std::size_t silent = links.stages.size() + 1 - waits.size();
  if (silent > 0)
    text += "; " + std::to_string(silent) + " actors do not answer: every worker thread is busy";
  on_failed(Failed{{Errc::stalled, text}});
}

SupervisorHandle::behavior_type supervisor_actor(
    SupervisorHandle::stateful_pointer<SupervisorState> self,
    std::shared_ptr<const PipelineSetup> setup) {
  base_init(self);
  self->set_down_handler([=](caf::down_msg& down) { self->state.on_down(down.reason); });
  self->state.start(self, std::move(setup));
  return {[=](SupervisorLinks& links) { self->state.on_links(links); },
          [=](const Failed& failed) { self->state.on_failed(failed); },
          [=](const WatchCall&) { self->state.on_watch_call(); },
          [=](const WatchTick& tick) { self->state.on_watch_tick(tick); },
          [=](WaitsFor& waits) { self->state.on_waits_for(waits); }};
}

}  // namespace penstock::actors
