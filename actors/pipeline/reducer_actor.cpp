#include "actors/pipeline/reducer_actor.hpp"

#include "graph/values/memory.hpp"

namespace penstock::actors {
namespace {

ReducedTotal total_of(const ReducedLayout& layout) {
  return {layout,
          layout.bytes > 0 ? allocate_block(static_cast<std::size_t>(layout.bytes)) : nullptr};
}

}  // namespace

void ReducerState::start(ReducerHandle::pointer actor, const ReducerSetup& setup) {
  self = actor;
  sums = std::make_shared<ReducedSums>(
      ReducedSums{total_of(setup.on_ipu), total_of(setup.on_host), {}});
  sums->replicas.resize(static_cast<std::size_t>(setup.replicas));
  arrived.reserve(sums->replicas.size());
}

void ReducerState::on_contribution(Contribution& contribution) {
  const auto replica = static_cast<std::size_t>(contribution.replica);
  if (!sums->replicas[replica]) sums->replicas[replica] = std::move(contribution.arena);
  arrived.push_back(std::move(contribution.optimizer));
  if (arrived.size() < sums->replicas.size()) return;
  for (const OptimizerHandle& optimizer : arrived) self->send(optimizer, Reduced{sums});
  arrived.clear();
}

ReducerHandle::behavior_type reducer_actor(ReducerHandle::stateful_pointer<ReducerState> self,
                                           const ReducerSetup& setup) {
  self->state.start(self, setup);
  return {[=](Contribution& contribution) { self->state.on_contribution(contribution); }};
}

}  // namespace penstock::actors
