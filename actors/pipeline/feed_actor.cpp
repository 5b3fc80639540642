#include "actors/pipeline/feed_actor.hpp"

#include <algorithm>
#include <cstring>

#include "actors/messages/out_of_turn.hpp"
#include "actors/pipeline/explained_wait.hpp"
#include "actors/system/workers.hpp"
#include "graph/values/memory.hpp"
#include "graph/values/stopwatch.hpp"

namespace penstock::actors {

void FeedState::start(FeedHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline,
                      std::shared_ptr<PipelinePulse> moves, SupervisorHandle watcher) {
  self = actor;
  setup = std::move(pipeline);
  pulse = std::move(moves);
  supervisor = std::move(watcher);
  credits.assign(static_cast<std::size_t>(setup->replicas), setup->live_micro_batches());
  next.assign(static_cast<std::size_t>(setup->replicas), 0);
  copies.resize(setup->plan->inputs.size());
}

void FeedState::on_step_call(StepCall& message) {
  call = std::move(message);
  end = call.first_micro_batch + call.micro_batches;
  begun_end = call.first_micro_batch + call.done;
  since_ns = steady_ns();
  unannounced_bytes = 0;
  for (std::size_t replica = 0; replica < credits.size(); ++replica) feed(replica);
}

void FeedState::on_credit(const Credit& credit) {
  const auto replica = static_cast<std::size_t>(credit.replica);
  expect_replica(*setup, credit.replica, "Credit");
  if (credits[replica] == setup->live_micro_batches())
    throw out_of_turn("Credit of replica " + std::to_string(credit.replica),
                      "none of its micro-batches is under way");
  ++credits[replica];
  unannounced_bytes = 0;
  feed(replica);
}

void FeedState::feed(std::size_t replica) {
  for (; credits[replica] > 0 && next[replica] < end && may_send(next[replica]);
       --credits[replica]) {
    send_micro_batch(replica, next[replica]++);
    since_ns = steady_ns();
    pulse->beat();
  }
  const bool all_sent = std::all_of(next.begin(), next.end(), [&](auto n) { return n == end; });
  if (all_sent) call.inputs.clear();  // A micro-batch that is under way keeps its own rows alive.
}

bool FeedState::may_send(std::int64_t micro_batch) {
  if (micro_batch < begun_end) return true;
  if (!call.stop.stop_requested()) {
    begun_end += window();
    return true;
  }
  end = begun_end;
  self->send(links.step, CallCut{end - call.first_micro_batch});
  return false;
}

std::int64_t FeedState::window() const {
  if (setup->plan->training) return setup->gradient_accumulation;
  return setup->plan->phases.none() ? 1 : setup->plan->phases.turn;
}

void FeedState::send_micro_batch(std::size_t replica, std::int64_t micro_batch) {
  const auto& edges = setup->plan->edges;
  const std::vector<Tensor> inputs = inputs_of(replica, micro_batch);
  for (std::size_t id = 0; id < edges.size(); ++id) {
    if (edges[id].kind != graph::EdgeKind::input) continue;
    self->send(links.stages[replica][static_cast<std::size_t>(edges[id].to)],
               EdgeTensor{static_cast<std::int32_t>(id), micro_batch,
                          inputs[static_cast<std::size_t>(edges[id].input)]});
  }
}

// The event is recorded before anything is sent, so that it is in the trace by the time that the
// host has the results of the micro-batch.
std::vector<Tensor> FeedState::inputs_of(std::size_t replica, std::int64_t micro_batch) {
  std::vector<Tensor> inputs(setup->plan->inputs.size());
  traced(setup->host_trace.get(),
         {.actor = HostActor::feed,
          .replica = static_cast<std::int32_t>(replica),
          .micro_batch = micro_batch},
         [&] {
           for (const graph::Edge& edge : setup->plan->edges) {
             if (edge.kind != graph::EdgeKind::input) continue;
             const auto input = static_cast<std::size_t>(edge.input);
             if (!inputs[input]) inputs[input] = micro_batch_of(input, replica, micro_batch);
           }
         });
  return inputs;
}

Tensor FeedState::micro_batch_of(std::size_t input, std::size_t replica, std::int64_t micro_batch) {
  const std::int64_t batch = setup->plan->batch;
  const std::int64_t groups = setup->replicas / setup->input_group;
  const std::int64_t number = (micro_batch - call.first_micro_batch) * groups +
                              static_cast<std::int64_t>(replica) / setup->input_group;
  Tensor rows = call.inputs[input].rows(number * batch, (number + 1) * batch);
  if (reinterpret_cast<std::uintptr_t>(rows.raw()) % tensor_alignment == 0) return rows;
  return copied(rows, input, replica, micro_batch);
}

// Each replica has a ring with room for as many micro-batches as may be in the pipeline: when the
// room of a micro-batch is used again, that micro-batch has left the pipeline. The rings of all
// replicas for one input are allocated at once, so that timing has no influence on what is
// allocated.
Tensor FeedState::copied(const Tensor& rows, std::size_t input, std::size_t replica,
                         std::int64_t micro_batch) {
  const auto bytes = static_cast<std::size_t>(aligned(static_cast<std::int64_t>(rows.bytes())));
  const auto ring = static_cast<std::size_t>(setup->live_micro_batches());
  auto& block = copies[input];
  const std::size_t room = bytes * ring * credits.size();
  unannounced_bytes += block ? rows.bytes() : room;
  if (let_others_work_for(self->context(), unannounced_bytes)) unannounced_bytes = 0;
  if (!block) block = allocate_block(room);
  std::byte* place =
      block.get() + bytes * (replica * ring + static_cast<std::size_t>(micro_batch) % ring);
  std::memcpy(place, rows.raw(), rows.bytes());
  return Tensor::wrap(rows.dtype(), rows.shape(), {block, place});
}

void FeedState::on_explain_wait(const ExplainWait& question) const {
  explain_wait(self, supervisor, question, [this] { return waits_for(); });
}

// The result names every replica for which micro-batches are left, because a credit of any of them
// lets the feed go on.
Wait FeedState::waits_for() const {
  Wait wait{.actor = "feed", .since_ns = since_ns};
  for (std::size_t replica = 0; replica < credits.size(); ++replica) {
    if (replica > 0) wait.text += ", ";
    if (next[replica] == end) {
      wait.text += "has sent all of replica " + std::to_string(replica);
      continue;
    }
    wait.text += "waits for a credit of replica " + std::to_string(replica) +
                 " to send micro-batch " + std::to_string(next[replica]);
    wait.ways.push_back({stage_name(*setup, static_cast<std::int64_t>(replica), 0)});
  }
  return wait;
}

FeedHandle::behavior_type feed_actor(FeedHandle::stateful_pointer<FeedState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<PipelinePulse> pulse,
                                     SupervisorHandle supervisor) {
  self->state.start(self, std::move(setup), std::move(pulse), std::move(supervisor));
  return {[=](FeedLinks& links) { self->state.on_links(links); },
          [=](StepCall& call) { self->state.on_step_call(call); },
          [=](const Credit& credit) { self->state.on_credit(credit); },
          [=](const ExplainWait& question) { self->state.on_explain_wait(question); }};
}

}  // namespace penstock::actors
