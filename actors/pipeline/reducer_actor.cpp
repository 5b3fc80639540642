#include "actors/pipeline/reducer_actor.hpp"

#include <cstring>

#include "actors/execution/flush_denormals.hpp"
#include "engine/values/memory.hpp"
#include "graph/kernels/kernel_table.hpp"

namespace penstock::actors {
namespace {

ReducedTotal total_of(const ReducedLayout& layout) {
  return {layout,
          layout.bytes > 0 ? allocate_block(static_cast<std::size_t>(layout.bytes)) : nullptr};
}

}  // namespace

void ReducerState::start(ReducerHandle::pointer actor, const ReducerSetup& setup) {
  self = actor;
  contributions.resize(static_cast<std::size_t>(setup.replicas));
  sums = std::make_shared<ReducedSums>(
      ReducedSums{total_of(setup.on_ipu), total_of(setup.on_host), {}});
  sums->replicas.resize(contributions.size());
}

void ReducerState::on_contribution(Contribution& contribution) {
  const auto replica = static_cast<std::size_t>(contribution.replica);
  if (!sums->replicas[replica]) sums->replicas[replica] = contribution.arena;
  contributions[replica] = std::move(contribution);
  if (++arrived < contributions.size()) return;
  arrived = 0;
  add_up(sums->on_ipu, &Arena::accumulators);
  add_up(sums->on_host, &Arena::host_accumulators);
  for (Contribution& one : contributions) {
    self->send(one.optimizer, Reduced{sums});
    one = {};
  }
}

void ReducerState::add_up(const ReducedTotal& of_whole, std::span<std::byte> (Arena::*of)()) const {
  const FlushDenormals flush;
  for (const ReducedPart& part : of_whole.layout.parts) {
    auto* const sum = reinterpret_cast<float*>(of_whole.total.get() + part.place);
    const auto sum_of = [&](const Contribution& one) {
      return (*one.arena.*of)().data() + part.offset;
    };
    std::memcpy(sum, sum_of(contributions[0]), static_cast<std::size_t>(part.bytes));
    const auto elements = part.bytes / std::int64_t{sizeof(float)};
    for (std::size_t replica = 1; replica < contributions.size(); ++replica) {
      const auto* more = reinterpret_cast<const float*>(sum_of(contributions[replica]));
      graph::kernel_table().arithmetic.add(elements, {sum, false}, {more, false}, sum);
    }
  }
}

ReducerHandle::behavior_type reducer_actor(ReducerHandle::stateful_pointer<ReducerState> self,
                                           const ReducerSetup& setup) {
  self->state.start(self, setup);
  return {[=](Contribution& contribution) { self->state.on_contribution(contribution); }};
}

}  // namespace penstock::actors
