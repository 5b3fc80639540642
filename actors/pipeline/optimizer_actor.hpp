// Optimizer: updates the weights of one stage of one replica, once per window: gradients from its
// stage (through the reducer of the replicas, if there are any), leave from the gate, state from
// the host store if it is kept there, the arithmetic on the stage's IPU.
#pragma once

#include <functional>
#include <set>

#include "actors/pipeline/messages.hpp"

namespace penstock::actors {

struct OptimizerSetup {
  std::shared_ptr<const PipelineSetup> pipeline = {};
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  std::shared_ptr<Arena> arena = {};
  std::shared_ptr<WeightUpdate> update = {};  ///< with its first state
};

struct OptimizerState {
  void start(OptimizerHandle::pointer actor, OptimizerSetup given);
  void on_links(OptimizerLinks& given);
  void on_window_complete(const WindowComplete& window);
  void on_reduced(const Reduced& reduced);
  void on_tied_sums(TiedSums& tied);
  void on_update_order(const UpdateOrder& order);
  void on_update_done(const UpdateDone& done);
  void on_shard_ready(ShardReady& shard);
  void on_release();
  void on_explain_wait();
  void on_set_rules(const SetRules& message) { setup.update->set_rules(message.rules); }

  void use_sums(std::shared_ptr<const ReducedSums> reduced);
  /// One stage's sums have come; the last that are waited for make the gradients complete.
  void count_sums();
  /// Does `work` with the state on the IPU.
  void with_state(const std::function<void()>& work);
  /// Puts the state back into the host store, if it belongs there.
  void return_state();
  void run(UpdatePhase phase);
  /// Begins to wait for the shards of the next update.
  void expect_shards();
  /// Gathers once it may and all other replicas' shards are there.
  void gather();
  void send_shard();
  void end_phase(PhaseDone&& done);
  std::string waits_for() const;
  BlockKey key() const;
  std::string who() const;

  OptimizerHandle::pointer self = nullptr;
  OptimizerSetup setup;
  OptimizerLinks links;
  std::set<std::int32_t> owners;   // of copies that this stage holds
  std::set<std::int32_t> copiers;  // stages that hold copies of this one's parameters
  std::size_t sums_there = 0;      // of this update
  std::int64_t update_number = 0;
  bool fetching = false;  // its state, from the host store
  bool may_gather = false;
  std::set<std::int32_t> shards_missing;  // of this update's weights, by replica
  std::vector<TraceEvent> work;           // of this update
};

OptimizerHandle::behavior_type optimizer_actor(
    OptimizerHandle::stateful_pointer<OptimizerState> self, OptimizerSetup setup);

}  // namespace penstock::actors
