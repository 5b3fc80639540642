#include "actors/pipeline/reducer_actor.hpp"

#include <utility>

#include "graph/values/stopwatch.hpp"

namespace penstock::actors {

void ReducerState::on_sums_complete() {
  if (complete == 0) first_complete_ns = steady_ns();
  if (++complete < setup->replicas) return;
  complete = 0;
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
  return {[=](ReducerLinks& links) { self->state.on_links(links); },
          [=](const SumsComplete&) { self->state.on_sums_complete(); }};
}

}  // namespace penstock::actors
