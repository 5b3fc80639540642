// An optimizer updates the weights of one stage of one replica, once per window. It has the
// gradients from its stage, and those of other replicas once the reducer says so. The gate tells it
// when it may go on, and the host store lends it the state, if it is kept there. The stage's IPU
// does the arithmetic.
#pragma once

#include <array>
#include <set>

#include "actors/messages/local_messages.hpp"
#include "actors/pipeline/borrowing.hpp"

namespace penstock::actors {

struct OptimizerSetup {
  std::shared_ptr<const PipelineSetup> pipeline = {};
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  std::shared_ptr<Arena> arena = {};
  std::shared_ptr<WeightUpdate> update = {};  ///< Has its first state.
};

struct OptimizerState {
  void start(OptimizerHandle::pointer actor, OptimizerSetup new_setup);
  void on_links(OptimizerLinks& message);
  void on_window_complete(const WindowComplete& window);
  void on_all_sums_complete();
  void on_tied_sums_complete() { count_sums(); }
  void on_update_order(UpdateOrder& order);
  void on_update_done(const UpdateDone& done);
  void on_release();
  void on_explain_wait(const ExplainWait& question) const;
  void on_set_rules(const SetRules& message) { setup.update->set_rules(message.rules); }

  /// Counts the sums of one more stage that are complete. The last that are waited for make the
  /// gradients complete.
  void count_sums();
  /// Returns whether the replicas' sums are added up as soon as all replicas have them, while other
  /// stages still work, and not in a round of the gate's.
  bool reduces_ahead() const;
  /// Gets what the update needs.
  void prepare();
  /// Tells the gate that the gradients are complete, once all that the update needs is there:
  /// between this and its release the optimizer allocates nothing.
  void be_ready();
  void write_letters();
  /// Fetches the state from the host store, if it is kept there; then it is ready.
  void fetch_state();
  /// Puts the state back into the host store, if it belongs there.
  void return_state();
  void run(UpdateOrder& order);
  void end_round(UpdateRound round);
  std::string waits_for() const;
  /// Returns the actors that what it waits for comes from.
  std::vector<std::string> awaited_from() const;
  BlockKey key() const;
  std::string subject() const;

  OptimizerHandle::pointer self = nullptr;
  OptimizerSetup setup;
  OptimizerLinks links;
  std::int32_t ipu = 0;
  Borrowing state;                 // Comes from the host store.
  std::set<std::int32_t> owners;   // Own the copies that this stage holds.
  std::set<std::int32_t> copiers;  // Are the stages that hold copies of this one's parameters.
  std::size_t sums_there = 0;      // Counts those of this update.
  // Is the last micro-batch of the window that this update ends.
  std::int64_t last_micro_batch = 0;
  enum class Awaited : std::uint8_t { nothing, replicas, tied_sums, state, ipu, gate };
  /// Notes that the optimizer waits for something else from now on.
  void await(Awaited what);
  // Says what the optimizer waits for, which explains a stall.
  Awaited awaited = Awaited::nothing;
  std::int64_t since_ns = 0;                   // Is when that wait began.
  UpdateRound running = UpdateRound::measure;  // Is the round on the IPU, while that is awaited.
  std::int64_t ready_ns = 0;                   // Says when the IPU was asked for that round.
  std::int64_t exchanged_bytes = 0;            // Counts those of all rounds so far.
  std::vector<TraceEvent> work;                // Has what the IPU has done for this update.
  /// Holds what one round of an update needs to be told and answered.
  struct RoundLetters {
    Letter<RunUpdate> run;
    Letter<RoundDone> done;
  };
  std::array<RoundLetters, update_rounds> letters;  // Is numbered by round.
};

OptimizerHandle::behavior_type optimizer_actor(
    OptimizerHandle::stateful_pointer<OptimizerState> self, OptimizerSetup setup);

}  // namespace penstock::actors
