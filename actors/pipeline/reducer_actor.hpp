// Reducer: where the replicas' gradient sums of one stage meet. Adds up those of tensors that are
// whole in every replica, in the order of the replicas' numbers, whatever order they arrive in, and
// gives every replica the same total. Of the others it tells each where they all are.
#pragma once

#include "actors/pipeline/messages.hpp"

namespace penstock::actors {

struct ReducerSetup {
  std::int64_t replicas = 0;
  ReducedLayout on_ipu = {};   ///< of sums that the stages have on their IPUs
  ReducedLayout on_host = {};  ///< and in the host store
};

struct ReducerState {
  void start(ReducerHandle::pointer actor, const ReducerSetup& setup);
  void on_contribution(Contribution& contribution);
  /// Of what `of` gives of each replica's arena.
  void add_up(const ReducedTotal& sums, std::span<std::byte> (Arena::*of)()) const;

  ReducerHandle::pointer self = nullptr;
  std::vector<Contribution> contributions;  // by replica
  std::size_t arrived = 0;
  std::shared_ptr<ReducedSums> sums;
};

/// For gradient sums that are all f32.
ReducerHandle::behavior_type reducer_actor(ReducerHandle::stateful_pointer<ReducerState> self,
                                           const ReducerSetup& setup);

}  // namespace penstock::actors
