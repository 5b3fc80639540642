// WeightUpdate is one stage's share of a weight update, without CAF: the gradients' norms, then the
// rule, which scales, clips and clears the gradient sums on its way. The optimizer's actor owns it,
// and the IPU runs it, in turns.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "actors/execution/arena.hpp"
#include "actors/execution/gradient_sums.hpp"
#include "actors/execution/pipeline_setup.hpp"
#include "actors/execution/staging.hpp"
#include "actors/execution/update_phase.hpp"
#include "graph/plan/optimizers/norm.hpp"
#include "graph/plan/staging.hpp"
#include "penstock/report.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

/// The tensors that a rule keeps for one variable, in the order of OptimizerRule::state: whole
/// ones, or the elements of a shard.
struct VariableState {
  std::int32_t variable = 0;  ///< Is the position in Plan::variables.
  std::vector<Tensor> tensors = {};
  std::int64_t first_element = 0;  ///< Is where the shard begins.
};

/// Is the whole state of the optimizer.
struct OptimizerTensors {
  std::int64_t updates = 0;  ///< Counts the updates that the state has seen.
  std::vector<std::vector<Tensor>> variables =
      {};  ///< Is as in VariableState, by position in the plan.
};

/// Has a stage's optimizer state; each block is null if there is none.
struct StateBlocks {
  std::shared_ptr<std::byte> on_ipu = {};
  std::shared_ptr<std::byte> on_host = {};
};

class WeightUpdate {
 public:
  WeightUpdate(std::shared_ptr<const PipelineSetup> setup, std::size_t stage,
               std::shared_ptr<Arena> arena, std::shared_ptr<const UpdateRules> rules,
               std::int64_t replica = 0);

  void set_rules(std::shared_ptr<const UpdateRules> rules) { rules_ = std::move(rules); }
  bool clips() const { return rules_->max_grad_norm > 0; }

  /// Sets the sums of this stage, or of one that has copies of its parameters, which every update
  /// reads. All of them are set before the first update.
  void set_sums(std::int32_t stage, StageSums sums) { sums_.set(stage, std::move(sums)); }
  void set_clip_factor(double factor) { clip_factor_ = factor; }
  /// Is called before `apply` if `follow` came first, with the squared norms of what weights move
  /// along, by position in Plan::variables.
  void set_directions(std::vector<double> squared_norms) { directions_ = std::move(squared_norms); }
  /// Each returns whether this stage has anything to do in one phase.
  bool reduces() const;
  bool follows() const;
  bool gathers() const;

  /// Returns the optimizer state of the stage's variables as it is before the first update.
  StateBlocks new_state() const;
  void set_state(StateBlocks state) {
    state_ = std::move(state);
    all_state_ = state_;
  }
  /// Returns whether an update borrows state that is kept in the host store.
  bool uses_host_store() const { return host_block_bytes_ > 0; }
  void lend_host_state(std::shared_ptr<std::byte> state) { state_.on_host = std::move(state); }
  std::shared_ptr<std::byte> return_host_state() { return std::move(state_.on_host); }
  bool has_host_state() const { return state_.on_host != nullptr; }
  // The host's thread may use the next two while no call is under way, wherever the state is.

  /// Returns copies of the state's tensors; in other replicas than the first, of the shards only.
  std::vector<VariableState> read_state() const;
  /// Replaces the state by these tensors, which are whole and have the right types. Updates count
  /// on from theirs.
  void restore_state(const OptimizerTensors& tensors) noexcept;
  /// Each returns bytes on the IPU: of the state and its shards' padding, or of alignment.
  std::int64_t state_bytes_on_ipu() const { return state_bytes(false); }
  std::int64_t state_padding_on_ipu() const { return ipu_block_bytes_ - state_bytes(false); }
  /// Returns the bytes of scratch that run() needs at least.
  std::int64_t staging_bytes() const;

  /// `scratch` is memory of the IPU, for the pieces of what is kept in the host store. `runner`,
  /// unless null, shares the rule's work on large parameters. `heartbeat`, unless null, beats with
  /// each parameter and each piece of a large one. Before `gather`, every replica has done `apply`.
  /// It allocates nothing, so that an update that has begun cannot end for want of memory.
  void run(UpdatePhase phase, std::span<std::byte> scratch, graph::PartRunner* runner = nullptr,
           graph::Heartbeat* heartbeat = nullptr);
  /// Returns what has been copied since the model was built, and what there is to copy.
  const OffloadReport& state_moves() const { return moves_; }
  const CollectiveReport& collectives() const { return collectives_; }
  std::int64_t updates() const { return step_; }
  /// Returns whether the weights are those after updates() updates, not between two.
  bool whole() const { return !applying_; }
  /// Returns whether norms() are those that `phase` has measured once it is done.
  bool measures(UpdatePhase phase) const;
  /// Returns the norms that the last phase has measured: `measure` those of gradients of all
  /// trained variables of the stage, `follow` those of what divided ones move along.
  const UpdateNorms& norms() const { return norms_; }
  /// Makes room in `norms` for what a phase measures. @throws std::bad_alloc
  void make_room(UpdateNorms& norms) const;
  /// Exchanges norms() for `norms`, in which there is room for those of another phase. Allocates
  /// nothing.
  void exchange_norms(UpdateNorms& norms) noexcept { std::swap(norms_, norms); }

 private:
  struct Trained : Share {
    std::size_t position = 0;  // Is the position in StagePlan::variables.
    // Lie in the block on the IPU or in the host store.
    std::vector<std::int64_t> state_offsets = {};
    std::vector<float> initial_state = {};  // Has the value of each tensor's elements.
    bool on_host = false;
    std::int64_t own_elements = 0;  // Counts them with the padding of `own`.
    // Is the position in UpdateNorms::shards, if the variable is divided.
    std::size_t shard_norm = 0;
  };
  /// A State holds elements of each tensor of a parameter's state.
  class State {
   public:
    void push_back(std::span<float> tensor) { tensors_[size_++] = tensor; }
    std::size_t size() const { return size_; }
    std::span<float> operator[](std::size_t tensor) const { return tensors_[tensor]; }
    operator std::span<const std::span<float>>() const { return std::span(tensors_).first(size_); }

   private:
    std::array<std::span<float>, graph::most_state_tensors> tensors_;
    std::size_t size_ = 0;
  };
  /// Some of a parameter's elements, and where the rule finds what goes with them.
  struct Piece {
    graph::Part elements;
    State state;
    graph::SummedGradient gradient;
    std::span<float> weight;
  };
  /// A rule works on at most so many elements at a time, if it can: a core updates them in some ten
  /// milliseconds, and whoever watches sees it move.
  static constexpr std::int64_t most_at_once = 1 << 22;

  Trained trained_variable(std::size_t position);
  /// Gives each divided parameter its position among the norms of shards.
  void number_shard_norms();
  void begin_anew(const StateBlocks& state) const;
  void count_all_reduces();
  void count_reduction();
  void reduce(graph::PartRunner* runner);
  void add_uses();
  void measure();
  void follow();
  void apply(graph::PartRunner* runner);
  void gather();
  void end_update();
  /// Does the second step of a rule in shards.
  void move_shard(const Trained& trained);
  bool moves_in_shards(const Trained& trained) const;
  const graph::ParameterRule& rule_of(const Trained& trained) const;
  graph::Hyper hyper_of(const Trained& trained) const;
  void update(const Trained& trained, graph::PartRunner* runner);
  void update_piece(const Trained& trained, const Piece& piece, graph::PartRunner* runner);
  /// Updates a whole parameter whose rule has norms: does both steps of the rule, block by block.
  void update_by_norms(const Trained& trained, const Piece& piece);
  /// Does the rule's first step for a part of a piece, a block of the norm at most. Returns the
  /// squared norm of its directions.
  double follow(const Trained& trained, const Piece& block);
  /// Does the rule's second step for a piece.
  void move(const Trained& trained, const Piece& piece, double squared_weights,
            double squared_directions);
  /// Does the rule's first step for a shard, and makes `part` what its directions add to the norm.
  void make_norm_part(const Trained& trained, const Piece& piece, graph::NormPart& part);
  void update_elements(const Trained& trained, const Piece& piece);
  /// Returns the elements `part` of a piece, counted from the piece's own first one.
  static Piece part_of(const Piece& piece, const graph::Part& part);
  graph::Sharing sharing(const Trained& trained, std::int64_t elements) const;
  graph::StagedUpdate staged(const Trained& trained) const;
  /// Brings to the IPU what of a piece is kept in the host store. put_back() returns it.
  Piece bring(const Trained& trained, const graph::Part& elements);
  State bring_state(const Trained& trained, const graph::Part& elements);
  void put_back(const Trained& trained, const Piece& piece);
  /// Returns where the state of the elements from `begin` on is kept.
  float* kept(const Trained& trained, std::size_t tensor, std::int64_t begin) const;
  std::span<float> weight(const Trained& trained, const graph::Part& elements) const;
  /// Brings these elements to the IPU. put_back_weight() returns what has changed of them.
  std::span<float> bring_weight(const Trained& trained, const graph::Part& elements);
  void put_back_weight(const Trained& trained, std::int64_t begin, std::span<const float> weight);
  double squared_norm_of_weight(const Trained& trained);
  static std::byte* block_of(const Trained& trained, const StateBlocks& state);
  std::int64_t state_bytes(bool on_host) const;
  void write_copies(const Trained& trained);
  graph::SummedGradient gradient(const Trained& trained) const;
  /// Returns what the sums are divided by.
  double divisor() const;
  float gradient_scale() const { return static_cast<float>(1 / divisor()); }

  std::shared_ptr<const PipelineSetup> setup_;
  std::shared_ptr<Arena> arena_;
  std::shared_ptr<const UpdateRules> rules_;
  std::int64_t replica_;
  std::vector<Trained> trained_;
  std::int64_t ipu_block_bytes_ = 0;
  std::int64_t host_block_bytes_ = 0;
  GradientSums sums_;
  StateBlocks state_;      // Lacks what the host store has.
  StateBlocks all_state_;  // Has the same blocks, wherever they are.
  Staging staging_;        // Is in the IPU's scratch while the update runs.
  OffloadReport moves_;
  std::vector<double> directions_;
  CollectiveReport collectives_;
  CollectiveReport of_reducer_;  // Counts what one total of the reducer's adds.
  double clip_factor_ = 1;
  double rate_factor_ = 1;  // Is that of the schedule for the update that runs.
  bool uses_added_ = false;
  std::int64_t step_ = 0;  // Counts the updates that are done.
  bool applying_ = false;
  UpdateNorms norms_;  // Has room for what a phase measures.
};

}  // namespace penstock::actors
