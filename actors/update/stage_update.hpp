// A StageUpdate is what the rounds of one stage's weight update share, without CAF: the trained
// variables, their gradient sums, and the optimizer's state.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/execution/arena.hpp"
#include "actors/execution/pipeline_setup.hpp"
#include "actors/update/gradient_sums.hpp"
#include "actors/update/staging_buffer.hpp"
#include "graph/plan/staging_sizes.hpp"
#include "penstock/report.hpp"

namespace penstock::actors {

/// StateBlocks have a stage's optimizer state. A block is null if there is no state in its place.
struct StateBlocks {
  std::shared_ptr<std::byte> on_ipu = {};
  std::shared_ptr<std::byte> in_host_store = {};
};

/// A TrainedVariable describes a variable that the stage trains, and says where its optimizer state
/// is.
struct TrainedVariable : SharedParameter {
  std::size_t position = 0;  ///< This is the variable's position in StagePlan::variables.
  bool state_in_host_store = false;
  /// Each tensor of the state begins at one of these bytes, in the block on the IPU or in the host
  /// store.
  std::vector<std::int64_t> state_offsets = {};
  /// This has, for each tensor of the state, the value of its elements before the first update.
  std::vector<float> initial_state = {};
  std::int64_t own_elements = 0;  ///< `share` has this many elements with its padding.
  /// This is the squared norm of the weight, which the round `follow` measures for a rule with
  /// norms if the variable is sharded.
  double squared_weight = 0;
  /// If the variable is sharded, this is its position in UpdateNorms::shards.
  std::size_t shard_norm = 0;

  /// Returns how many elements of the state the plan counts for an IPU. State that the replicas
  /// share counts as a whole for each of them.
  std::int64_t elements_on_ipu() const { return sharded ? own_elements : elements(); }
};

struct StageUpdate {
  StageUpdate(std::shared_ptr<const PipelineSetup> pipeline, std::size_t stage,
              std::shared_ptr<Arena> memory, std::shared_ptr<const UpdateRules> update_rules,
              std::int64_t replica_number);

  std::shared_ptr<const PipelineSetup> setup;
  std::shared_ptr<Arena> arena;
  std::shared_ptr<const UpdateRules> rules;
  std::int64_t replica;
  GradientSums sums;
  std::vector<TrainedVariable> trained = {};
  std::int64_t ipu_block_bytes = 0;   ///< StateBlocks::on_ipu has this many bytes.
  std::int64_t host_block_bytes = 0;  ///< StateBlocks::in_host_store has this many bytes.
  /// These are the blocks that the update may use now. A block is null while the host store has it.
  StateBlocks state = {};
  StateBlocks all_state = {};  ///< These are all blocks, even while the host store has one of them.
  OffloadReport state_moves = {};
  CollectiveReport collectives = {};
  /// One round `reduce` adds this to `collectives` for parameters that are not sharded.
  CollectiveReport of_reducer = {};
  bool uses_added = false;  ///< If this is true, the sums of tied parameters have been added up.
  /// If this is true, an update may have changed some weights, or some of the optimizer's state,
  /// and is not done.
  bool applying = false;
  std::int64_t step = 0;  ///< This many updates are done.

  bool clips() const { return rules->max_grad_norm > 0; }
  const graph::ParameterRule& rule_of(const TrainedVariable& trained) const;
  /// Returns whether `trained` is sharded and its rule has norms, so that its update takes the two
  /// rounds `follow` and `apply`.
  bool moves_in_shards(const TrainedVariable& trained) const;
  /// Returns the factor by which gradient sums are multiplied to become gradients.
  float gradient_scale() const;
  /// Returns a description of what the update of `trained` brings to the IPU.
  graph::StagedUpdate staged(const TrainedVariable& trained) const;
  /// Returns the elements `elements` of the weight of `trained`, on the IPU or in the host store's
  /// block.
  std::span<float> weight(const TrainedVariable& trained, const graph::Part& elements) const;
  /// Writes the new weight of `trained` to the stages that have copies of it. Each of these stages
  /// notes by itself, at the end of the same update, that its weights have changed.
  void write_copies(const TrainedVariable& trained, const StagingBuffer& staging) const;
  /// Ends the update: notes that all weights have changed and have had one more update.
  void end();
};

constexpr std::int64_t bytes_of(std::int64_t elements) {
  return elements * std::int64_t{sizeof(float)};
}

}  // namespace penstock::actors
