// The gate is where all stages meet before a weight update. It holds the update back until every
// stage of every replica has its gradient sums, so that weights never change inside a window. It
// leads all stages through the update in rounds; if only one IPU may be busy at a time, the stages
// do a round one after another. It computes the factor that clips gradients to the global norm, and
// adds up the norms of sharded parameters. It lets no stage go on before
// all stages have done the update, and begins no update once the model has failed.
#pragma once

#include <array>
#include <vector>

#include "actors/host/update_latch.hpp"
#include "actors/messages/local_messages.hpp"

namespace penstock::actors {

struct GateState {
  void start(GateHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline,
             std::shared_ptr<UpdateLatch> latch, std::shared_ptr<const UpdateRules> first_rules);
  void on_links(GateLinks& message);
  void on_gradients_ready(const GradientsReady& message);
  void on_round_done(RoundDone& done);
  void on_set_rules(const SetRules& message) { rules = message.rules; }
  void on_explain_wait(const ExplainWait& question) const;

  /// Allocates what the rounds of an update need, because the gate allocates nothing while an
  /// update is under way.
  void prepare_rounds();
  void begin_round(UpdateRound next);
  void send_order(std::size_t optimizer);
  /// Returns the first round of this update that reads the sums of gradients over all replicas.
  UpdateRound first_with_sums() const;
  /// Keeps the norms in `answer`, which an optimizer has measured.
  void note_norms(RoundDone& answer);
  void end_round();
  /// Adds up the norms that `shard_norms` points to, and writes the squared norm of each sharded
  /// variable to `of_variables`.
  void add_up(std::vector<double>& of_variables) const;
  void release();
  /// Returns what the gate waits for. The text of the result is empty if the answers of the stages
  /// explain the wait.
  Wait waits_for() const;
  /// Returns the position of a stage's optimizer in `links`.
  std::size_t position_of(std::int32_t replica, std::int32_t stage) const;
  /// Notes that the optimizer of a stage has answered. Returns whether all optimizers have now
  /// answered, and if so, begins to count anew.
  bool hear(std::int32_t replica, std::int32_t stage);
  bool one_by_one() const { return setup->plan->schedule->one_at_a_time; }

  GateHandle::pointer self = nullptr;
  std::shared_ptr<const PipelineSetup> setup;
  std::shared_ptr<UpdateLatch> updates;
  std::shared_ptr<const UpdateRules> rules;
  GateLinks links;
  // This many optimizers have sent GradientsReady or, in an update, have done the round.
  std::size_t answers = 0;
  std::vector<bool> heard;  // This says which optimizers `answers` counts, by position in `links`.
  bool in_update = false;   // This is true while an update is under way.
  UpdateRound round = UpdateRound::apply;  // This is the round that has begun last.
  std::int64_t round_begin_ns = 0;         // This is when `round` began.
  double clip_factor = 1;                  // This is the factor that clips the update's gradients.
  // This has the squared norm of each variable's gradient. Replica 0 reports those of the variables
  // that are not sharded.
  std::vector<double> squared_norms;
  /// This has the norms of shards that each optimizer reported last, by the optimizer's position in
  /// `links`.
  std::vector<std::vector<ShardNorm>> reported_shards;
  /// For each variable and then each replica, this points to the part of the norm in
  /// `reported_shards`. A variable that is not sharded has no parts.
  std::vector<std::vector<const graph::NormPart*>> shard_norms;
  std::vector<double> directions;  // This has the squared norm of each variable's direction.
  // These are the orders of one optimizer, one for each round.
  using Orders = std::array<Letter<UpdateOrder>, update_rounds>;
  std::vector<Orders> orders;  // This has the orders of each optimizer.
  bool follows = false;        // If this is true, updates have the round UpdateRound::follow.
  bool gathers = false;        // If this is true, some variable is sharded.
  std::int64_t since_ns = 0;   // This is when the gate last heard from an optimizer.
};

GateHandle::behavior_type gate_actor(GateHandle::stateful_pointer<GateState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<UpdateLatch> updates,
                                     std::shared_ptr<const UpdateRules> rules);

}  // namespace penstock::actors
