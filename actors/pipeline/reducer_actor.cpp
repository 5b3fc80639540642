#include "actors/pipeline/reducer_actor.hpp"

#include <cstring>

#include "actors/execution/flush_denormals.hpp"
#include "actors/system/base_init.hpp"
#include "engine/values/memory.hpp"
#include "graph/kernels/kernel_table.hpp"

namespace penstock::actors {

void ReducerState::start(ReducerHandle::pointer actor, std::int64_t replicas, std::int64_t bytes) {
  self = actor;
  contributions.resize(static_cast<std::size_t>(replicas));
  elements = static_cast<std::size_t>(bytes) / sizeof(float);
  total = allocate_block(static_cast<std::size_t>(bytes));
}

void ReducerState::on_contribution(Contribution& contribution) {
  contributions[static_cast<std::size_t>(contribution.replica)] = std::move(contribution);
  if (++arrived < contributions.size()) return;
  arrived = 0;
  reduce();
  for (Contribution& one : contributions) {
    self->send(one.optimizer, Reduced{total});
    one = {};
  }
}

void ReducerState::reduce() {
  const FlushDenormals flush;
  auto* sum = reinterpret_cast<float*>(total.get());
  std::memcpy(sum, contributions[0].arena->accumulators().data(), elements * sizeof(float));
  for (std::size_t replica = 1; replica < contributions.size(); ++replica) {
    const auto* part =
        reinterpret_cast<const float*>(contributions[replica].arena->accumulators().data());
    graph::kernel_table().arithmetic.add(static_cast<std::int64_t>(elements), {sum, false},
                                         {part, false}, sum);
  }
}

ReducerHandle::behavior_type reducer_actor(ReducerHandle::stateful_pointer<ReducerState> self,
                                           std::int64_t replicas, std::int64_t bytes) {
  base_init(self);
  self->state.start(self, replicas, bytes);
  return {[=](Contribution& contribution) { self->state.on_contribution(contribution); }};
}

}  // namespace penstock::actors
