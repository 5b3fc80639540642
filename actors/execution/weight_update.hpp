// WeightUpdate: one stage's share of a weight update, without CAF: the gradients' norms, then the
// rule, which scales, clips and clears the gradient sums on its way. Owned by the optimizer's
// actor, run by the IPU, in turns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "actors/execution/arena.hpp"
#include "actors/execution/gradient_sums.hpp"
#include "actors/execution/pipeline_setup.hpp"
#include "actors/execution/staging.hpp"
#include "graph/optimizers/norm.hpp"
#include "graph/staging.hpp"
#include "penstock/report.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

enum class UpdatePhase : std::uint8_t {
  reduce,   ///< the sums of the replicas' gradients: each replica adds up its share of them
  measure,  ///< the gradients' norms
  follow,   ///< the first step of rules with norms of parameters that the replicas divide
  apply,    ///< scaling, clipping, the rule; then the sums are zero again
  gather,   ///< the other replicas' shards of the new weights
};

struct VariableNorm {
  std::int32_t variable = 0;  ///< position in Plan::variables
  double squared = 0;
};

/// What one replica knows of the norm of a variable that they divide.
struct ShardNorm {
  std::int32_t variable = 0;
  graph::NormPart part = {};
};

/// What a rule keeps for one variable, in the order of OptimizerRule::state; all of it, or the
/// elements of a shard.
struct VariableState {
  std::int32_t variable = 0;  ///< position in Plan::variables
  std::vector<Tensor> tensors = {};
  std::int64_t first_element = 0;  ///< of the shard
};

/// The optimizer's whole state.
struct OptimizerTensors {
  std::int64_t updates = 0;  ///< that it has seen
  std::vector<std::vector<Tensor>> variables =
      {};  ///< as in VariableState, by position in the plan
};

/// A stage's optimizer state; null where there is none.
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

  /// Of this stage and, before every update, of those that hold copies of its parameters.
  void set_sums(std::int32_t stage, StageSums sums) { sums_.set(stage, std::move(sums)); }
  void set_clip_factor(double factor) { clip_factor_ = factor; }
  /// Before `apply`, if `follow` came first: squared norms of what weights move along, by position
  /// in Plan::variables.
  void set_directions(std::shared_ptr<const std::vector<double>> squared_norms) {
    directions_ = std::move(squared_norms);
  }
  /// Whether this stage has anything to do in these phases.
  bool reduces() const;
  bool follows() const;
  bool gathers() const;
  /// Before `gather`: the same stage of another replica, which has applied its update.
  void set_shard(std::int64_t replica, std::shared_ptr<Arena> arena) {
    shards_[replica] = std::move(arena);
  }

  /// The optimizer state of the stage's variables as it is before the first update.
  StateBlocks new_state() const;
  void set_state(StateBlocks state) {
    state_ = std::move(state);
    all_state_ = state_;
  }
  /// What is kept in the host store: an update borrows it.
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
  /// Bytes of its elements on the IPU, padding of shards included; and what alignment adds there.
  std::int64_t state_bytes_on_ipu() const { return state_bytes(false); }
  std::int64_t state_padding_on_ipu() const { return ipu_block_bytes_ - state_bytes(false); }
  /// Scratch that run() needs at least.
  std::int64_t staging_bytes() const;

  /// `scratch` is memory of the IPU, for the pieces of what is kept in the host store. `runner`, if
  /// any, shares the rule's work on large parameters; `heartbeat`, if any, beats with each
  /// parameter and each piece of a large one.
  void run(UpdatePhase phase, std::span<std::byte> scratch, graph::PartRunner* runner = nullptr,
           graph::Heartbeat* heartbeat = nullptr);
  /// What has been copied since the model was built, and what there is to copy.
  const OffloadReport& state_moves() const { return moves_; }
  const CollectiveReport& collectives() const { return collectives_; }
  std::int64_t updates() const { return step_; }
  /// Whether the weights are those after updates() updates, not between two.
  bool whole() const { return !applying_; }
  /// After `measure`: of each trained variable of the stage that is not divided.
  const std::vector<VariableNorm>& squared_norms() const { return norms_; }
  /// After `measure` or `follow`: of those that are, this replica's parts.
  std::vector<ShardNorm> take_shard_norms() { return std::move(shard_norms_); }

 private:
  struct Trained : Share {
    std::size_t position = 0;                      // in StagePlan::variables
    std::vector<std::int64_t> state_offsets = {};  // in the block on the IPU or in the host store
    std::vector<float> initial_state = {};         // of each tensor's elements
    bool on_host = false;
    std::int64_t own_elements = 0;  // of `own` and its padding
  };
  using State = std::vector<std::span<float>>;  // elements of each tensor of a parameter
  /// Some of a parameter's elements, and where the rule finds what goes with them.
  struct Piece {
    graph::Part elements;
    State state;
    graph::SummedGradient gradient;
    std::span<float> weight;
  };
  Trained trained_variable(std::size_t position);
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
  /// The second step of a rule in shards.
  void move(const Trained& trained);
  bool moves_in_shards(const Trained& trained) const;
  const graph::ParameterRule& rule_of(const Trained& trained) const;
  graph::Hyper hyper_of(const Trained& trained) const;
  void update(const Trained& trained, graph::PartRunner* runner);
  void update_piece(const Trained& trained, const Piece& piece, graph::PartRunner* runner);
  void update_elements(const Trained& trained, const Piece& piece);
  /// Those elements of a piece that begin and end so, counted from the piece's own.
  static Piece part_of(const Piece& piece, const graph::Part& part);
  graph::Sharing sharing(const Trained& trained, std::int64_t elements) const;
  graph::StagedUpdate staged(const Trained& trained) const;
  /// What of a piece is kept in the host store comes to the IPU; put_back() returns it.
  Piece bring(const Trained& trained, const graph::Part& elements);
  State bring_state(const Trained& trained, const graph::Part& elements);
  void put_back(const Trained& trained, const Piece& piece);
  /// Where state is kept, of the elements from `begin` on.
  float* kept(const Trained& trained, std::size_t tensor, std::int64_t begin) const;
  std::span<float> weight(const Trained& trained, const graph::Part& elements) const;
  /// The same on the IPU; put_back_weight() returns what has changed of it.
  std::span<float> bring_weight(const Trained& trained, const graph::Part& elements);
  void put_back_weight(const Trained& trained, std::int64_t begin, std::span<const float> weight);
  double squared_norm_of_weight(const Trained& trained);
  static std::byte* block_of(const Trained& trained, const StateBlocks& state);
  std::int64_t state_bytes(bool on_host) const;
  void write_copies(const Trained& trained);
  graph::SummedGradient gradient(const Trained& trained) const;
  /// What the sums are divided by.
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
  StateBlocks state_;      // without what the host store has
  StateBlocks all_state_;  // the same blocks, wherever they are
  Staging staging_;        // in the IPU's scratch, while it runs
  OffloadReport moves_;
  std::map<std::int64_t, std::shared_ptr<Arena>> shards_;  // by replica
  std::shared_ptr<const std::vector<double>> directions_;
  CollectiveReport collectives_;
  CollectiveReport of_reducer_;  // what one of its totals adds to it
  double clip_factor_ = 1;
  double rate_factor_ = 1;  // of the update that runs
  bool uses_added_ = false;
  std::int64_t step_ = 0;  // updates done
  bool applying_ = false;
  std::vector<VariableNorm> norms_;
  std::vector<ShardNorm> shard_norms_;
};

}  // namespace penstock::actors
