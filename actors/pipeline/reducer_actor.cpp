#include "actors/pipeline/reducer_actor.hpp"

#include <cstring>

#include "actors/execution/flush_denormals.hpp"
#include "actors/system/base_init.hpp"
#include "engine/values/memory.hpp"
#include "graph/kernels/kernel_table.hpp"

namespace penstock::actors {

void ReducerState::start(ReducerHandle::pointer actor, std::int64_t replicas,
                         const ReducedBytes& bytes) {
  self = actor;
  contributions.resize(static_cast<std::size_t>(replicas));
  if (bytes.on_ipu > 0) total = allocate_block(static_cast<std::size_t>(bytes.on_ipu));
  if (bytes.on_host > 0) host_total = allocate_block(static_cast<std::size_t>(bytes.on_host));
}

void ReducerState::on_contribution(Contribution& contribution) {
  contributions[static_cast<std::size_t>(contribution.replica)] = std::move(contribution);
  if (++arrived < contributions.size()) return;
  arrived = 0;
  reduce(total, &Arena::accumulators);
  reduce(host_total, &Arena::host_accumulators);
  for (Contribution& one : contributions) {
    self->send(one.optimizer, Reduced{total, host_total});
    one = {};
  }
}

void ReducerState::reduce(const std::shared_ptr<std::byte>& total,
                          std::span<std::byte> (Arena::*of)()) {
  const FlushDenormals flush;
  auto* sum = reinterpret_cast<float*>(total.get());
  const std::span<std::byte> first = (*contributions[0].arena.*of)();
  if (first.empty()) return;
  const auto elements = static_cast<std::int64_t>(first.size() / sizeof(float));
  std::memcpy(sum, first.data(), first.size());
  for (std::size_t replica = 1; replica < contributions.size(); ++replica) {
    const auto* part = reinterpret_cast<const float*>((*contributions[replica].arena.*of)().data());
    graph::kernel_table().arithmetic.add(elements, {sum, false}, {part, false}, sum);
  }
}

ReducerHandle::behavior_type reducer_actor(ReducerHandle::stateful_pointer<ReducerState> self,
                                           std::int64_t replicas, const ReducedBytes& bytes) {
  base_init(self);
  self->state.start(self, replicas, bytes);
  return {[=](Contribution& contribution) { self->state.on_contribution(contribution); }};
}

}  // namespace penstock::actors
