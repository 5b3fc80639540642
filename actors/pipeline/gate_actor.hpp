// The gate is where all stages meet before a weight update. It holds the update back until every
// stage of every replica has its gradient sums, so that weights never change inside a window. It
// leads all stages through the update in rounds; if only one IPU may be busy at a time, the stages
// do a round one after another. It computes the factor that clips gradients to the global norm, and
// adds up the norms of sharded parameters. It lets no stage go on before all stages have done the
// update, and begins no update once the model has failed.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "actors/host/update_latch.hpp"
#include "actors/messages/local_messages.hpp"
#include "actors/update/reported_norms.hpp"

namespace penstock::actors {

struct GateState {
  void start(GateHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline,
             std::shared_ptr<UpdateLatch> latch, std::shared_ptr<const UpdateRules> first_rules);
  void on_links(GateLinks& message) { links = std::move(message); }
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
  void end_round();
  void release();
  /// Counts the update of the stages in other processes.
  void count_others() const;
  /// Returns what the gate waits for. The text of the result is empty if the answers of the stages
  /// explain the wait.
  Wait waits_for() const;
  /// Returns the position of a stage's optimizer in `links`.
  std::size_t position_of(std::int32_t replica, std::int32_t stage) const;
  /// Refuses the message `name` of a stage's optimizer, which is out of turn. @throws Error
  /// internal
  [[noreturn]] void refuse(const std::string& name, std::int32_t replica, std::int32_t stage) const;
  /// Returns whether the gate waits for the optimizer at position `optimizer` of `links`.
  bool awaits(std::size_t optimizer) const;
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
  std::optional<ReportedNorms> norms;
  // These are the orders of one optimizer, one for each round.
  using Orders = std::array<Letter<UpdateOrder>, update_rounds>;
  std::vector<Orders> orders;  // This has the orders of each optimizer.
  std::int64_t since_ns = 0;   // This is when the gate last heard from an optimizer.
};

GateHandle::behavior_type gate_actor(GateHandle::stateful_pointer<GateState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<UpdateLatch> updates,
                                     std::shared_ptr<const UpdateRules> rules);

}  // namespace penstock::actors
