// Reducer: the all-reduce of one stage. Adds the replicas' gradient sums in the order of their
// numbers, whatever order they arrive in, and gives every replica the same total.
#pragma once

#include "actors/pipeline/messages.hpp"

namespace penstock::actors {

struct ReducerState {
  void start(ReducerHandle::pointer actor, std::int64_t replicas, std::int64_t bytes);
  void on_contribution(Contribution& contribution);
  void reduce();

  ReducerHandle::pointer self = nullptr;
  std::vector<Contribution> contributions;  // by replica
  std::size_t arrived = 0;
  std::size_t elements = 0;
  std::shared_ptr<std::byte> total;
};

/// For gradient sums of `bytes` bytes, all f32.
ReducerHandle::behavior_type reducer_actor(ReducerHandle::stateful_pointer<ReducerState> self,
                                           std::int64_t replicas, std::int64_t bytes);

}  // namespace penstock::actors
