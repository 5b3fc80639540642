// A reducer is where the replicas of one stage meet before a weight update. It tells the stage's
// optimizers in all replicas once the gradient sums of all replicas are complete. It reads no sums
// itself: the IPU of each replica adds up a slice of the total.
#pragma once

#include <vector>

#include "actors/messages/local_messages.hpp"

namespace penstock::actors {

struct ReducerState {
  void on_links(ReducerLinks& message) { links = std::move(message); }
  void on_sums_complete(const SumsComplete& message);

  ReducerHandle::pointer self = nullptr;
  std::shared_ptr<const PipelineSetup> setup;
  std::int32_t stage = 0;
  ReducerLinks links;
  std::int64_t complete = 0;           // This many replicas have complete sums for this update.
  std::vector<bool> there;             // This says which replicas `complete` counts.
  std::int64_t first_complete_ns = 0;  // This is when the sums of the first replica were complete.
};

ReducerHandle::behavior_type reducer_actor(ReducerHandle::stateful_pointer<ReducerState> self,
                                           std::shared_ptr<const PipelineSetup> setup,
                                           std::int32_t stage);

}  // namespace penstock::actors
