// Reducer: where the replicas' gradient sums of one stage meet. Tells every replica where all of
// them are, and where their total is to be, of which each replica's IPU adds up a share.
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

  ReducerHandle::pointer self = nullptr;
  std::vector<OptimizerHandle> arrived;  // whose replicas have contributed to this update
  std::shared_ptr<ReducedSums> sums;
};

/// All gradient sums are f32.
ReducerHandle::behavior_type reducer_actor(ReducerHandle::stateful_pointer<ReducerState> self,
                                           const ReducerSetup& setup);

}  // namespace penstock::actors
