#include "actors/pipeline/reducer_actor.hpp"

#include <utility>

#include "actors/messages/out_of_turn.hpp"
#include "graph/values/stopwatch.hpp"

namespace penstock::actors {

void ReducerState::on_sums_complete(const SumsComplete& message) {
  const auto replica = static_cast<std::size_t>(message.replica);
  expect_replica(*setup, message.replica, "SumsComplete");
  if (there[replica])
    throw out_of_turn("SumsComplete of replica " + std::to_string(message.replica),
                      "the reducer has heard from that replica, and waits for others");
  if (complete == 0) first_complete_ns = steady_ns();
  there[replica] = true;
  if (++complete < setup->replicas) return;
  complete = 0;
  there.assign(there.size(), false);
  if (setup->host_trace)
    setup->host_trace->record(
        {.actor = HostActor::reducer, .stage = stage, .begin_ns = first_complete_ns});
  for (const OptimizerHandle& optimizer : links.optimizers)
    self->send(optimizer, AllSumsComplete{});
}

ReducerHandle::behavior_type reducer_actor(ReducerHandle::stateful_pointer<ReducerState> self,
                                           std::shared_ptr<const PipelineSetup> setup,
                                           std::int32_t stage) {
  self->state.self = self;
  self->state.setup = std::move(setup);
  self->state.stage = stage;
  self->state.there.assign(static_cast<std::size_t>(self->state.setup->replicas), false);
  return {[=](ReducerLinks& links) { self->state.on_links(links); },
          [=](const SumsComplete& sums) { self->state.on_sums_complete(sums); }};
}

}  // namespace penstock::actors
