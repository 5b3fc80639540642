#include "actors/pipeline/stage_actor.hpp"

#include <utility>

#include "actors/execution/expected_tensor.hpp"
#include "actors/messages/out_of_turn.hpp"
#include "actors/pipeline/explained_wait.hpp"
#include "actors/pipeline/host_store_actor.hpp"
#include "graph/values/stopwatch.hpp"

namespace penstock::actors {

void StageState::start(StageHandle::pointer actor, StageSetup new_setup) {
  self = actor;
  setup = std::move(new_setup);
  const PipelineSetup& pipeline = *setup.pipeline;
  const graph::Plan& plan = *pipeline.plan;
  const auto number = static_cast<std::size_t>(setup.stage);
  core.emplace(plan, number, plan.training ? pipeline.gradient_accumulation : 0,
               pipeline.live_micro_batches());
  const graph::StagePlan& stage_plan = plan.stages[number];
  position_of_edge.assign(plan.edges.size(), no_position);
  std::size_t position = 0;
  for (const auto* receives : {&stage_plan.forward_receives, &stage_plan.backward_receives})
    for (const std::int32_t edge : *receives)
      position_of_edge[static_cast<std::size_t>(edge)] = position++;
  phases.emplace(plan, number);
  ipu = pipeline.ipu(setup.replica, number);
  since_ns = steady_ns();
}

void StageState::herald(const Work& work) {
  const auto news = phases->news_of(work);
  if (!news) return;
  for (const std::size_t stage : news->stages)
    self->send(links.stages[stage], TurnNear{news->near});
}

// While this stage's update is not done, the arena belongs to the stage's optimizer, and the
// message is kept until the update is done. Weights are brought only for work that has not begun
// yet, because the weights may be overwritten as soon as all programs that have begun have ended.
void StageState::on_turn_near(const TurnNear& message) {
  const Work work = message.work;
  if (!core->begun(work) && !core->may_be_under_way(work.micro_batch))
    throw out_of_turn("TurnNear for the " + std::string(to_string(work.direction)) +
                          " of micro-batch " + std::to_string(work.micro_batch),
                      "that micro-batch cannot be under way");
  if (!links.host_store || core->begun(work) || program_of(work).instructions.empty()) return;
  if (core->window_complete()) {
    near = message;
    return;
  }
  if (work.direction == Direction::backward && keeps_stash() &&
      !setup.arena->has_host_stash(work.micro_batch))
    fetch(key(HostClass::stash, work.micro_batch), [this] { pump(); });
  if (!weights_missing()) return bring_ahead(work);
  fetch(key(HostClass::weights), [this, work] {
    bring_ahead(work);
    pump();
  });
}

void StageState::bring_ahead(const Work& work) {
  if (setup.arena->stage().host_parameter_bytes > 0 && !core->begun(work))
    self->send(links.device, BringWeights{self, setup.arena, work, setup.replica});
}

void StageState::on_weights_brought(const WeightsBrought& brought) {
  setup.status->note([&](StageReport& report) {
    ++(brought.work.direction == Direction::forward ? report.forward_weight_loads
                                                    : report.backward_weight_loads);
  });
  if (setup.pipeline->trace) record_load(brought);
}

void StageState::record_load(const WeightsBrought& brought) {
  // If weights come before the work that needs them is ready, the IPU waits for what the next turn
  // begins with.
  const bool ahead = !core->begun(brought.work) || ready_ns > brought.begin_ns;
  const WaitReason next_turn =
      brought.work.direction == Direction::forward ? WaitReason::input : WaitReason::gradient;
  setup.status->record({.ipu = ipu,
                        .replica = setup.replica,
                        .stage = setup.stage,
                        .activity = Activity::load,
                        .waited_for = ahead ? next_turn : waited_for,
                        .micro_batch = brought.work.micro_batch,
                        .ready_ns = ahead ? brought.begin_ns : ready_ns,
                        .begin_ns = brought.begin_ns,
                        .end_ns = brought.end_ns,
                        .bytes = setup.arena->stage().host_parameter_bytes});
}

void StageState::on_links(StageLinks& message) {
  links = std::move(message);
  return_blocks();
}

BlockKey StageState::key(HostClass of, std::int64_t micro_batch) const {
  return {of, setup.replica, setup.stage, micro_batch};
}

bool StageState::sums_missing() const {
  return setup.arena->stage().host_accumulator_bytes > 0 && !setup.arena->has_host_accumulators();
}

bool StageState::weights_missing() const {
  return setup.arena->stage().host_parameter_bytes > 0 && !setup.arena->has_host_weights();
}

bool StageState::fetched_for(const Work& work) {
  if (!links.host_store) return true;
  const bool backward = work.direction == Direction::backward;
  std::vector<BlockKey> missing;
  if (weights_missing()) missing.push_back(key(HostClass::weights));
  if (sums_missing()) missing.push_back(key(HostClass::accumulators));
  if (backward && keeps_stash() && !setup.arena->has_host_stash(work.micro_batch))
    missing.push_back(key(HostClass::stash, work.micro_batch));
  for (const BlockKey& one : missing) fetch(one, [this] { pump(); });
  return missing.empty() ||
         (!backward && missing.size() == 1 && missing[0].of == HostClass::accumulators);
}

void StageState::fetch(const BlockKey& wanted, const std::function<void()>& then) {
  blocks.fetch(
      self, links, wanted, [this] { return subject(); },
      [=, this](std::shared_ptr<std::byte> block) {
        lend(wanted, std::move(block));
        then();
      });
}

void StageState::lend(const BlockKey& of, std::shared_ptr<std::byte> block) {
  if (of.of == HostClass::weights)
    setup.arena->lend_host_weights(std::move(block));
  else if (of.of == HostClass::accumulators)
    setup.arena->lend_host_accumulators(std::move(block));
  else
    setup.arena->lend_host_stash(of.micro_batch, std::move(block));
}

void StageState::return_blocks() {
  if (setup.arena->has_host_accumulators())
    self->send(links.host_store,
               StoreBlock{key(HostClass::accumulators), setup.arena->return_host_accumulators()});
  if (setup.arena->has_host_weights())
    self->send(links.host_store,
               StoreBlock{key(HostClass::weights), setup.arena->return_host_weights()});
}

void StageState::return_stash(std::int64_t micro_batch) {
  if (keeps_stash())
    self->send(links.host_store, StoreBlock{key(HostClass::stash, micro_batch),
                                            setup.arena->return_host_stash(micro_batch)});
}

std::string StageState::subject() const {
  return stage_name(*setup.pipeline, setup.replica, static_cast<std::size_t>(setup.stage));
}

void StageState::on_edge_tensor(EdgeTensor& message) {
  const auto number = static_cast<std::size_t>(message.edge);
  if (number >= position_of_edge.size() || position_of_edge[number] == no_position)
    throw out_of_turn("EdgeTensor of edge " + std::to_string(message.edge),
                      "the stage receives nothing along that edge");
  const graph::Edge& edge = setup.pipeline->plan->edges[number];
  const auto what = [&] {
    return "EdgeTensor of edge " + std::to_string(message.edge) + ", \"" + edge.name +
           "\", for micro-batch " + std::to_string(message.micro_batch);
  };
  if (edge.kind != graph::EdgeKind::order)
    expect_tensor(message.tensor, edge.type, what);
  else if (message.tensor)
    throw Error(Errc::internal, "the message " + what() + ": expected no tensor");
  const std::size_t position = position_of_edge[number];
  core->received(position, message.micro_batch);
  setup.arena->receive(position, message.micro_batch, std::move(message.tensor));
  pump();
}

void StageState::on_outputs_taken() {
  if (!core->has_unread_outputs())
    throw out_of_turn("OutputsTaken", "the host has read all outputs that it was sent");
  core->outputs_taken();
  pump();
}

const graph::Program& StageState::program_of(const Work& work) const {
  const graph::StagePlan& stage_plan = setup.arena->stage();
  return work.direction == Direction::forward ? stage_plan.forward : stage_plan.backward;
}

void StageState::pump() {
  while (const auto work = core->next()) {
    if (!fetched_for(*work)) {
      if (fetching_since_ns == 0) fetching_since_ns = steady_ns();
      return;
    }
    note_ready(*work);
    core->started(*work);
    since_ns = steady_ns();
    herald(*work);
    const bool runs = !program_of(*work).instructions.empty();
    setup.status->note([&](StageReport& report) {
      report.max_in_flight = static_cast<int>(core->max_in_flight());
      if (runs)
        ++(work->direction == Direction::forward ? report.forward_runs : report.backward_runs);
    });
    if (!runs) {
      finish(*work);
      continue;
    }
    self->send(links.device, RunProgram{self, setup.arena, *work, setup.replica,
                                        setup.pipeline->constants->now()});
  }
  if (!core->busy()) held_by = core->held_by();
}

void StageState::note_ready(const Work& work) {
  if (!setup.pipeline->trace) return;
  ready_ns = steady_ns();
  waited_for = held_by.value_or(work.direction == Direction::forward ? WaitReason::input
                                                                     : WaitReason::gradient);
  // When this stage began to fetch blocks from the host store, everything else that the work needs
  // had come. If the fetching took longer than the rest of the wait, it is the reason for the wait.
  if (fetching_since_ns > 0 && ready_ns - fetching_since_ns > fetching_since_ns - since_ns)
    waited_for = WaitReason::host_store;
  fetching_since_ns = 0;
}

std::int64_t StageState::bytes_of(const std::vector<std::int32_t>& edges) const {
  std::int64_t bytes = 0;
  for (const std::int32_t id : edges) {
    const graph::Edge& edge = setup.pipeline->plan->edges[graph::index(id)];
    if (edge.kind != graph::EdgeKind::order) bytes += edge.type.bytes();
  }
  return bytes;
}

void StageState::on_program_done(const ProgramDone& done) {
  if (!core->runs(done.work))
    throw out_of_turn("ProgramDone for the " + std::string(to_string(done.work.direction)) +
                          " of micro-batch " + std::to_string(done.work.micro_batch),
                      "the stage " + (core->busy() ? core->waits_for().text : "runs no program"));
  const bool forward = done.work.direction == Direction::forward;
  if (!forward && setup.arena->stage().backward.recomputed > 0)
    setup.status->note([](StageReport& report) { ++report.recomputed_runs; });
  record({.ipu = ipu,
          .replica = setup.replica,
          .stage = setup.stage,
          .activity = forward ? Activity::forward : Activity::backward,
          .waited_for = waited_for,
          .micro_batch = done.work.micro_batch,
          .ready_ns = ready_ns,
          .begin_ns = done.begin_ns,
          .end_ns = done.end_ns,
          .bytes = bytes_of(forward ? setup.arena->stage().forward_sends
                                    : setup.arena->stage().backward_sends)});
  finish(done.work);
  held_by = WaitReason::dispatch;
  pump();
}

void StageState::record(const TraceEvent& event) {
  setup.status->note([&](StageReport& report) {
    report.busy_seconds += static_cast<double>(event.end_ns - event.begin_ns) * 1e-9;
  });
  if (setup.pipeline->trace) setup.status->record(event);
}

void StageState::finish(const Work& work) {
  core->finished(work);
  since_ns = steady_ns();
  if (links.host_store) note_moves();
  if (work.direction == Direction::forward) {
    return_stash(work.micro_batch);
    send_forward(work.micro_batch);
    return;
  }
  setup.arena->release(work.micro_batch);
  send_back(work.micro_batch);
  if (core->window_complete()) self->send(links.optimizer, WindowComplete{work.micro_batch});
}

void StageState::note_moves() {
  setup.status->note([&](StageReport& report) {
    report.accumulators = setup.arena->accumulator_moves();
    report.activations = setup.arena->activation_moves();
    report.weights = setup.arena->weight_moves();
  });
}

void StageState::send_along(std::int32_t edge, std::int64_t micro_batch, Tensor tensor) {
  if (tensor)
    setup.status->note([&](StageReport& report) {
      report.sent_bytes += static_cast<std::int64_t>(tensor.bytes());
    });
  const graph::Plan& plan = *setup.pipeline->plan;
  const auto to = static_cast<std::size_t>(plan.edges[static_cast<std::size_t>(edge)].to);
  self->send(links.stages[to], EdgeTensor{edge, micro_batch, std::move(tensor)});
}

void StageState::send_forward(std::int64_t micro_batch) {
  const auto& sends = setup.arena->stage().forward_sends;
  for (std::size_t i = 0; i < sends.size(); ++i)
    send_along(sends[i], micro_batch, setup.arena->sends_forward(i, micro_batch));
  if (!setup.arena->stage().outputs_after_backward) send_outputs(micro_batch);
}

void StageState::send_outputs(std::int64_t micro_batch) {
  if (setup.arena->stage().outputs.empty()) return;
  core->outputs_sent();
  self->send(links.step, StageOutputs{setup.replica, setup.stage, micro_batch,
                                      setup.arena->outputs(micro_batch)});
}

void StageState::send_back(std::int64_t micro_batch) {
  const auto& sends = setup.arena->stage().backward_sends;
  for (std::size_t i = 0; i < sends.size(); ++i)
    send_along(sends[i], micro_batch, setup.arena->sends_back(i, micro_batch));
  if (setup.arena->stage().outputs_after_backward) send_outputs(micro_batch);
  if (setup.stage == 0) self->send(links.feed, Credit{setup.replica});
}

void StageState::on_weights_ready(const WeightsReady& ready) {
  if (!core->window_complete())
    throw out_of_turn("WeightsReady", "the stage does not wait for a weight update");
  for (const TraceEvent& event : ready.work) record(event);
  setup.status->note([&](StageReport& report) {
    report.optimizer_state = ready.state_moves;
    report.collectives = ready.collectives;
  });
  note_moves();
  return_blocks();
  self->send(links.step, UpdateApplied{setup.replica, setup.stage});
  core->weights_ready();
  since_ns = steady_ns();
  if (near) on_turn_near(*std::exchange(near, std::nullopt));
  pump();
}

void StageState::on_explain_wait(const ExplainWait& question) const {
  explain_wait(self, links.supervisor, question, [this] { return waits_for(); });
}

Wait StageState::waits_for() const {
  Wait wait{.actor = subject(), .since_ns = since_ns};
  for (const BlockKey& one : blocks.awaited())
    wait.text += (wait.text.empty() ? "waits for its " : " and its ") + text_of(one);
  if (!wait.text.empty()) {
    wait.text += " from the host store";
    wait.ways = {{"host store"}};
    return wait;
  }
  StageCore::Waiting waiting = core->waits_for();
  wait.text = std::move(waiting.text);
  for (const std::vector<std::int32_t>& way : waiting.ways) {
    std::vector<std::string>& names = wait.ways.emplace_back();
    for (const std::int32_t from : way)
      names.push_back(from == graph::host ? "feed"
                                          : stage_name(*setup.pipeline, setup.replica,
                                                       static_cast<std::size_t>(from)));
  }
  if (core->busy()) {
    wait.ways = {{"IPU " + std::to_string(ipu)}};
    wait.text += " on " + wait.ways.front().front();
  }
  if (core->window_complete()) wait.ways = {{"optimizer of " + wait.actor}};
  return wait;
}

StageHandle::behavior_type stage_actor(StageHandle::stateful_pointer<StageState> self,
                                       StageSetup setup) {
  self->state.start(self, std::move(setup));
  return {[=](StageLinks& links) { self->state.on_links(links); },
          [=](EdgeTensor& message) { self->state.on_edge_tensor(message); },
          [=](const OutputsTaken&) { self->state.on_outputs_taken(); },
          [=](const ProgramDone& done) { self->state.on_program_done(done); },
          [=](const TurnNear& near) { self->state.on_turn_near(near); },
          [=](const WeightsBrought& brought) { self->state.on_weights_brought(brought); },
          [=](const WeightsReady& ready) { self->state.on_weights_ready(ready); },
          [=](const ExplainWait& question) { self->state.on_explain_wait(question); }};
}

}  // namespace penstock::actors
