// Reducer: the all-reduce of one stage. Adds the replicas' gradient sums in the order of their
// numbers, whatever order they arrive in, and gives every replica the same total.
#pragma once

#include "actors/pipeline/messages.hpp"

namespace penstock::actors {

/// Of a stage's gradient sums.
struct ReducedBytes {
  std::int64_t on_ipu = 0;
  std::int64_t on_host = 0;

  std::int64_t total() const { return on_ipu + on_host; }
};

struct ReducerState {
  void start(ReducerHandle::pointer actor, std::int64_t replicas, const ReducedBytes& bytes);
  void on_contribution(Contribution& contribution);
  /// Into `total`, of what `of` gives of each replica's arena.
  void reduce(const std::shared_ptr<std::byte>& total, std::span<std::byte> (Arena::*of)());

  ReducerHandle::pointer self = nullptr;
  std::vector<Contribution> contributions;  // by replica
  std::size_t arrived = 0;
  std::shared_ptr<std::byte> total;
  std::shared_ptr<std::byte> host_total;
};

/// For gradient sums that are all f32.
ReducerHandle::behavior_type reducer_actor(ReducerHandle::stateful_pointer<ReducerState> self,
                                           std::int64_t replicas, const ReducedBytes& bytes);

}  // namespace penstock::actors
