// A WeightUpdate is one stage's part of a weight update, without CAF: it runs the rounds of
// rounds.hpp one after the other, as the gate orders them. The optimizer's actor and the IPU, which
// runs the rounds, take turns in using it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "actors/update/optimizer_tensors.hpp"
#include "actors/update/stage_update.hpp"
#include "actors/update/update_round.hpp"

namespace penstock::actors {

class WeightUpdate {
 public:
  WeightUpdate(std::shared_ptr<const PipelineSetup> setup, std::size_t stage,
               std::shared_ptr<Arena> arena, std::shared_ptr<const UpdateRules> rules,
               std::int64_t replica = 0);

  void set_rules(std::shared_ptr<const UpdateRules> rules) { stage_.rules = std::move(rules); }
  bool clips() const { return stage_.clips(); }

  /// Sets the gradient sums of stage number `stage`, which is this stage or one that has copies of
  /// this stage's parameters. Every update reads these sums. They are all set before the first
  /// update.
  void set_sums(std::int32_t stage, StageSums sums) { stage_.sums.set(stage, std::move(sums)); }
  /// reduces(), follows() and gathers() each return whether this stage has anything to do in the
  /// round `reduce`, `follow` or `gather`.
  bool reduces() const;
  bool follows() const;
  bool gathers() const;

  /// Returns whether `order` may come next in an update whose last round was `last_done`; the
  /// update has had no round if that is empty.
  bool may_run(const UpdateOrder& order, std::optional<UpdateRound> last_done) const;
  /// Returns whether an update whose last round was `last_done` has had all its rounds.
  bool is_done_after(std::optional<UpdateRound> last_done) const;

  /// Returns the optimizer's state of the stage's variables before the first update.
  StateBlocks new_state() const { return actors::new_state(stage_); }
  void set_state(StateBlocks state);
  /// Returns whether an update borrows state that the host store keeps.
  bool uses_host_store() const { return stage_.host_block_bytes > 0; }
  void lend_host_state(std::shared_ptr<std::byte> state);
  std::shared_ptr<std::byte> return_host_state();
  bool has_host_state() const { return stage_.state.in_host_store != nullptr; }
  // The host's thread may call read_state() and restore_state() while no call is under way,
  // wherever the state is.

  /// Returns copies of what this replica keeps of the state.
  std::vector<VariableState> read_state() const { return actors::read_state(stage_); }
  /// Replaces the state by `tensors`, which are whole and have the right types, and sets the number
  /// of updates to `tensors.updates`.
  void restore_state(const OptimizerTensors& tensors) noexcept;
  /// Returns how many bytes the state takes on the IPU, including the padding of shards. State that
  /// the replicas share counts as a whole for each of them.
  std::int64_t state_bytes_on_ipu() const { return actors::state_bytes_on_ipu(stage_); }
  /// Returns how many of these bytes the replicas share.
  std::int64_t shared_state_bytes() const { return actors::shared_state_bytes(stage_); }
  /// Returns how many more bytes this replica has on the IPU to align the state's tensors.
  std::int64_t state_padding_on_ipu() const { return actors::state_padding_on_ipu(stage_); }
  /// Returns how many bytes of scratch run() needs at least.
  std::int64_t staging_bytes() const;

  /// Runs the round that `order` names. `scratch` is memory of the IPU, for pieces of tensors that
  /// the host store keeps. Unless `runner` is null, it shares the work on large parameters among
  /// threads. Unless `heartbeat` is null, it beats with each parameter and with each piece of a
  /// large parameter. Before the round `gather`, every replica has finished the round `apply`.
  /// run() allocates nothing, so that an update that has begun cannot fail for lack of memory.
  void run(const UpdateOrder& order, std::span<std::byte> scratch,
           graph::PartRunner* runner = nullptr, graph::Heartbeat* heartbeat = nullptr);
  /// Returns how many bytes of the state the host store keeps, and how many bytes of it have been
  /// copied since the model was built.
  const OffloadReport& state_moves() const { return stage_.state_moves; }
  const CollectiveReport& collectives() const { return stage_.collectives; }
  std::int64_t updates() const { return stage_.step; }
  /// Returns whether all weights and all state have had updates() updates. The result is false in
  /// the middle of an update.
  bool whole() const { return !stage_.applying; }
  /// Returns whether `round` measures norms in this stage, which norms() then returns.
  bool measures(UpdateRound round) const;
  /// Returns the norms that the last round has measured for the gate. `measure` measures the
  /// gradients of sharded variables and, in the first replica, of all others, and `follow` measures
  /// the directions along which sharded variables move.
  const UpdateNorms& norms() const { return norms_; }
  /// Makes room in `norms` for the norms that a round measures. @throws std::bad_alloc
  void make_room(UpdateNorms& norms) const;
  /// Swaps norms() and `norms`, which has room for the norms of another round. Allocates nothing.
  void exchange_norms(UpdateNorms& norms) noexcept { std::swap(norms_, norms); }

 private:
  void add_uses(const StagingBuffer& staging);

  StageUpdate stage_;
  UpdateNorms norms_;  // This has room for the norms that a round measures.
};

}  // namespace penstock::actors
