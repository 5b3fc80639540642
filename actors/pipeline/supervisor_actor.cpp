#include "actors/pipeline/supervisor_actor.hpp"

#include <algorithm>
#include <new>

#include "graph/values/stopwatch.hpp"

namespace penstock::actors {

void SupervisorState::start(SupervisorHandle::pointer actor, SupervisorSetup new_setup) {
  self = actor;
  setup = std::move(new_setup);
  wordless = {Errc::stalled, "nothing has moved for longer than options.runtime.stall_seconds, " +
                                 seconds_text(setup.stall_seconds) +
                                 ", and there is no memory to say who waits for what"};
}

void SupervisorState::on_failed(Failed& failed) {
  setup.failure->fail(std::move(failed.failure));
}

void SupervisorState::on_nothing_moves(const NothingMoves& quiet) {
  const bool again = asking == quiet.beats;
  asking = quiet.beats;
  quiet_seconds = quiet.quiet_seconds;
  if (has_moved()) {
    asking.reset();
  } else if (any_at_work(setup.pulse->ipus(), quiet_seconds, setup.stall_seconds)) {
    asking.reset();
    setup.pulse->excuse(quiet.beats);
  } else if (again) {
    report_stall();
  } else {
    ask_what_is_awaited();
  }
}

bool SupervisorState::has_moved() const {
  return !setup.call->awaits_answer() || setup.failure->failed() || setup.pulse->beats() != asking;
}

void SupervisorState::ask_what_is_awaited() {
  ++round;
  answers = 0;
  waits.clear();
  try {
    const ExplainWait question{round};
    waits.reserve(asked());
    self->send(links.feed, question);
    for (const StageHandle& stage : links.stages) self->send(stage, question);
    for (const OptimizerHandle& optimizer : links.optimizers) self->send(optimizer, question);
    if (links.gate) self->send(links.gate, question);
  } catch (const std::bad_alloc&) {
    // If there is no memory to ask an actor, the actor counts as one that does not answer.
  }
}

// A picture that was asked for earlier is not filled any further. If a stall is being explained at
// the moment, the answers to this round of questions explain it, too.
void SupervisorState::on_show_waits(ShowWaits& question) {
  picture = std::move(question.picture);
  try {
    picture->begin(asked(), work_of_ipus());
  } catch (const std::bad_alloc&) {
    picture->begin(asked(), {});
  }
  ask_what_is_awaited();
}

std::vector<Wait> SupervisorState::work_of_ipus() const {
  std::vector<Wait> work;
  for (const auto& ipu : setup.pulse->ipus())
    if (const auto moment = ipu->moment())
      work.push_back({.actor = "IPU " + std::to_string(ipu->ipu()),
                      .text = "is in " + to_string(*moment),
                      .since_ns = ipu->busy_since_ns()});
  return work;
}

void SupervisorState::on_waits_for(WaitsFor& answer) {
  if (answer.round != round || answers == asked()) return;
  if (picture) picture->add(answer.wait);
  if (!answer.wait.text.empty() && waits.size() < waits.capacity())
    waits.push_back(std::move(answer.wait));
  if (++answers < asked()) return;
  picture.reset();
  if (asking && !has_moved()) report_stall();
  asking.reset();
}

std::size_t SupervisorState::asked() const {
  const std::size_t feed = 1, gate = links.gate ? 1 : 0;
  return links.stages.size() + links.optimizers.size() + gate + feed;
}

void SupervisorState::report_stall() {
  try {
    setup.failure->fail({Errc::stalled, stall_text()});
  } catch (const std::bad_alloc&) {
    setup.failure->fail(std::move(wordless));
  }
}

std::string SupervisorState::stall_text() {
  std::ranges::sort(waits, {}, &Wait::actor);
  std::string text = "nothing has moved for " + seconds_text(quiet_seconds);
  for (const auto& ipu : setup.pulse->ipus())
    if (const auto moment = ipu->moment())
      text += "; IPU " + std::to_string(ipu->ipu()) + " has been in " + to_string(*moment) +
              " all that time, and may be for " +
              seconds_text(seconds_allowed(*moment, setup.stall_seconds)) +
              " at most where options.runtime.stall_seconds is " +
              seconds_text(setup.stall_seconds);
  const std::int64_t now_ns = steady_ns();
  for (const Wait& one : waits) text += "; " + to_string(one, now_ns);
  if (const std::string cycle = cycle_text(waits); !cycle.empty()) text += "; " + cycle;
  const std::size_t silent = asked() - answers;
  if (silent > 0)
    text += "; " + std::to_string(silent) + " of " + std::to_string(asked()) +
            " actors gave no answer: every worker thread is busy, or memory has run out";
  return text;
}

SupervisorHandle::behavior_type supervisor_actor(
    SupervisorHandle::stateful_pointer<SupervisorState> self, SupervisorSetup setup) {
  self->state.start(self, std::move(setup));
  return {[=](SupervisorLinks& links) { self->state.on_links(links); },
          [=](Failed& failed) { self->state.on_failed(failed); },
          [=](const NothingMoves& quiet) { self->state.on_nothing_moves(quiet); },
          [=](ShowWaits& question) { self->state.on_show_waits(question); },
          [=](WaitsFor& waits) { self->state.on_waits_for(waits); }};
}

}  // namespace penstock::actors
