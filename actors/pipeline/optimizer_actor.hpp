// An optimizer actor updates the weights of one stage of one replica, once per window. It uses the
// gradient sums of its stage and, once the reducer says that they are complete, those of the other
// replicas. The gate tells the optimizer when to begin each round of the update. If the host store
// keeps the optimizer's state, it lends the state to the optimizer. The stage's IPU does the
// arithmetic.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>

#include "actors/messages/local_messages.hpp"
#include "actors/pipeline/borrowing.hpp"

namespace penstock::actors {

struct OptimizerSetup {
  std::shared_ptr<const PipelineSetup> pipeline = {};
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  std::shared_ptr<Arena> arena = {};
  std::shared_ptr<WeightUpdate> update = {};  ///< The update has its first state already.
};

struct OptimizerState {
  void start(OptimizerHandle::pointer actor, OptimizerSetup new_setup);
  void on_links(OptimizerLinks& message);
  void on_window_complete(const WindowComplete& window);
  void on_all_sums_complete();
  void on_tied_sums_complete(const TiedSumsComplete& message);
  void on_update_order(UpdateOrder& order);
  void on_update_done(const UpdateDone& done);
  void on_release();
  void on_explain_wait(const ExplainWait& question) const;
  void on_set_rules(const SetRules& message);

  /// Tells the stages whose parameters this stage has copies of that its gradient sums are complete
  /// in all replicas, and notes it.
  void use_sums();
  /// Notes that the gradient sums of `stage` are complete, which is one of `sums_there`. Once the
  /// sums of all these stages are complete, the update goes on.
  void note_sums(std::int32_t stage);
  /// Refuses `message`, which is out of turn. @throws Error internal
  [[noreturn]] void refuse(const std::string& message) const;
  /// Returns whether a stage that has copies of this stage's parameters may complete its sums now.
  bool may_have_tied_sums() const;
  /// Returns whether the gradient sums of all replicas are added up as soon as they are complete,
  /// while other stages still work. Otherwise they are added up when the gate orders the round
  /// `reduce`.
  bool reduces_ahead() const;
  /// Fetches the state if the host store keeps it, and then calls be_ready().
  void prepare();
  /// Tells the gate that the gradients are complete, as soon as everything else that the update
  /// needs is there, too. From then on until the message Release comes from the gate, the optimizer
  /// allocates nothing.
  void be_ready();
  void write_letters();
  /// Fetches the state from the host store, and then calls be_ready().
  void fetch_state();
  /// Puts the state back into the host store, if it belongs there.
  void return_state();
  void run(UpdateOrder& order);
  void end_round(UpdateRound round);
  std::string waits_for() const;
  /// Returns the names of the actors for which the optimizer waits.
  std::vector<std::string> awaited_from() const;
  BlockKey key() const;
  std::string subject() const;

  OptimizerHandle::pointer self = nullptr;
  OptimizerSetup setup;
  OptimizerLinks links;
  std::int32_t ipu = 0;
  Borrowing state;                // This borrows the state that the host store keeps.
  std::set<std::int32_t> owners;  // This stage has copies of parameters of these stages.
  // The update uses the gradient sums of these stages: this one, and those that have copies of its
  // parameters. This says of each whether its sums are complete for this update.
  using SumsThere = std::map<std::int32_t, bool>;
  SumsThere sums_there;
  // This is the last micro-batch of the window that this update ends.
  std::int64_t last_micro_batch = 0;
  enum class Awaited : std::uint8_t { nothing, replicas, tied_sums, state, ipu, gate };
  /// Notes that the optimizer waits for something else from now on.
  void await(Awaited what);
  // This is what the optimizer waits for, which explains a stall.
  Awaited awaited = Awaited::nothing;
  std::int64_t since_ns = 0;  // This is when the optimizer began to wait for `awaited`.
  UpdateRound running = UpdateRound::measure;  // This is the round that the IPU was asked for last.
  std::optional<UpdateRound> last_done;  // This is the last round of this update that is done.
  std::int64_t ready_ns = 0;             // This is when the IPU was asked for `running`.
  // The work for the IPU that comes next has been waited for since this moment, at which the work
  // before it was done.
  std::int64_t idle_since_ns = 0;
  std::int64_t fetch_ns = 0;  // Fetching the state took this much of the time since then.
  // This is what took most of the wait for `running`: the host store, or all else together.
  WaitReason waited_for = WaitReason::gate;
  std::int64_t exchanged_bytes = 0;  // This many bytes were exchanged in all updates so far.
  std::vector<TraceEvent> work;      // This is what the IPU has done for this update.
  /// RoundLetters are the messages for one round of an update, allocated beforehand: to the IPU,
  /// and to the gate when the round is done.
  struct RoundLetters {
    Letter<RunUpdate> run;
    Letter<RoundDone> done;
  };
  std::array<RoundLetters, update_rounds> letters;  // This has the letters of each round.
};

OptimizerHandle::behavior_type optimizer_actor(
    OptimizerHandle::stateful_pointer<OptimizerState> self, OptimizerSetup setup);

}  // namespace penstock::actors
