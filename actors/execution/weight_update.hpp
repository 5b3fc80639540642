// WeightUpdate: one stage's share of a weight update, without CAF: the gradients' norms, then the
// rule, which scales, clips and clears the gradient sums on its way. Owned by the optimizer's
// actor, run by the IPU, in turns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "actors/execution/arena.hpp"
#include "actors/execution/pipeline_setup.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

enum class UpdatePhase : std::uint8_t {
  measure,  ///< the gradients' norms
  apply,    ///< scaling, clipping, the rule; then the sums are zero again
};

struct VariableNorm {
  std::int32_t variable = 0;  ///< position in Plan::variables
  double squared = 0;
};

/// What a rule keeps for one variable, in the order of OptimizerRule::state.
struct VariableState {
  std::int32_t variable = 0;  ///< position in Plan::variables
  std::vector<Tensor> tensors = {};
};

/// The optimizer's whole state.
struct OptimizerTensors {
  std::int64_t updates = 0;  ///< that it has seen
  std::vector<std::vector<Tensor>> variables =
      {};  ///< as in VariableState, by position in the plan
};

/// The gradient sums of one stage.
struct StageSums {
  std::shared_ptr<Arena> arena = {};           ///< where they are cleared
  std::shared_ptr<const std::byte> sums = {};  ///< to read: of all replicas, or the arena's own
};

class WeightUpdate {
 public:
  WeightUpdate(std::shared_ptr<const PipelineSetup> setup, std::size_t stage,
               std::shared_ptr<Arena> arena, std::shared_ptr<const UpdateRules> rules);

  void set_rules(std::shared_ptr<const UpdateRules> rules) { rules_ = std::move(rules); }
  bool clips() const { return rules_->max_grad_norm > 0; }

  /// Of this stage and, before every update, of those that hold copies of its parameters.
  void set_sums(std::int32_t stage, StageSums sums) { sums_[stage] = std::move(sums); }
  void set_clip_factor(double factor) { clip_factor_ = factor; }

  /// The optimizer state of the stage's variables, one block; empty if the rule keeps none.
  std::shared_ptr<std::byte> new_state() const;
  void set_state(std::shared_ptr<std::byte> state) { state_ = std::move(state); }
  std::shared_ptr<std::byte> take_state() { return std::move(state_); }
  /// Copies of the state's tensors, which must be set.
  std::vector<VariableState> read_state() const;
  /// A state block of these tensors, which have the right types. Updates count on from theirs.
  std::shared_ptr<std::byte> restored_state(const OptimizerTensors& tensors);
  /// Bytes of its elements (the block is a little larger for alignment).
  std::int64_t state_bytes() const;

  /// `runner`, if any, shares the rule's work on large parameters.
  void run(UpdatePhase phase, graph::PartRunner* runner = nullptr);
  std::int64_t updates() const { return step_; }
  /// Whether the weights are those after updates() updates, not between two.
  bool whole() const { return !applying_; }
  /// After `measure`: of each trained variable of the stage.
  const std::vector<VariableNorm>& squared_norms() const { return norms_; }

 private:
  struct Trained {
    std::size_t position;  // in StagePlan::variables
    std::int32_t variable;
    std::vector<std::int64_t> state_offsets;
  };
  void add_uses();
  void measure();
  void apply(graph::PartRunner* runner);
  void update(const Trained& trained, graph::PartRunner* runner);
  void update_elements(const Trained& trained, const graph::Part& elements);
  graph::Sharing sharing(const Trained& trained) const;
  void clear_other_uses(const Trained& trained);
  void write_copies(const Trained& trained);
  graph::SummedGradient gradient(const Trained& trained) const;
  /// What the sums are divided by.
  double divisor() const;
  const graph::VariablePlan& plan_of(const Trained& trained) const;
  /// The sum of one use, to be read; and this replica's own, to be cleared.
  const float* sum_of(const graph::GradientPlan& use) const;
  std::span<float> own_sum_of(const Trained& trained, std::size_t use) const;

  std::shared_ptr<const PipelineSetup> setup_;
  std::shared_ptr<Arena> arena_;
  std::shared_ptr<const UpdateRules> rules_;
  std::vector<Trained> trained_;
  std::int64_t state_block_bytes_ = 0;
  std::map<std::int32_t, StageSums> sums_;  // by stage
  std::shared_ptr<std::byte> state_;
  double clip_factor_ = 1;
  double rate_factor_ = 1;  // of the update that runs
  bool uses_added_ = false;
  std::int64_t step_ = 0;  // updates done
  bool applying_ = false;
  std::vector<VariableNorm> norms_;
};

}  // namespace penstock::actors
