#include "actors/pipeline/reducer_actor.hpp"

namespace penstock::actors {

void ReducerState::on_sums_complete() {
  if (++complete < replicas) return;
  complete = 0;
  for (const OptimizerHandle& optimizer : links.optimizers)
    self->send(optimizer, AllSumsComplete{});
}

ReducerHandle::behavior_type reducer_actor(ReducerHandle::stateful_pointer<ReducerState> self,
                                           std::int64_t replicas) {
  self->state.self = self;
  self->state.replicas = replicas;
  return {[=](ReducerLinks& links) { self->state.on_links(links); },
          [=](const SumsComplete&) { self->state.on_sums_complete(); }};
}

}  // namespace penstock::actors
