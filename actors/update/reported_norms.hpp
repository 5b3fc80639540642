// ReportedNorms are what the optimizers of all stages report to the gate about the norms that a
// round of a weight update measures. A report that another process has sent may hold anything, so
// that each is checked before it is used.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/execution/pipeline_setup.hpp"
#include "actors/update/update_round.hpp"

namespace penstock::actors {

class ReportedNorms {
 public:
  ReportedNorms(std::shared_ptr<const PipelineSetup> setup, const UpdateRules& rules);

  /// Returns whether some variable is sharded.
  bool any_sharded() const { return any_sharded_; }
  /// Returns whether the rule of some sharded variable has norms, which the round `follow`
  /// measures.
  bool any_followed() const { return any_followed_; }

  /// Takes the norms that `round`, which is `measure` or `follow`, has measured in a stage of a
  /// replica; the pipeline has that stage. Allocates nothing.
  /// @throws Error internal if these are not the norms that `round` measures there.
  void take(UpdateRound round, std::int32_t replica, std::int32_t stage, UpdateNorms& norms);
  /// Adds up what the replicas have measured of each sharded variable in `round`, which is
  /// `measure` or `follow`, once every stage of every replica has reported. Allocates nothing.
  void add_up(UpdateRound round);
  /// Returns the squared norms of the gradients, in the order of Plan::variables, as of the last
  /// add_up() for `measure`.
  const std::vector<double>& gradients() const { return gradients_; }
  /// Returns the squared norms of the directions along which the variables move, in the order of
  /// Plan::variables, as of the last add_up() for `follow`. Those of variables that `follow` does
  /// not measure mean nothing.
  const std::vector<double>& directions() const { return directions_; }

 private:
  /// A ShardedVariable is a sharded variable that a stage trains.
  struct ShardedVariable {
    std::int32_t variable = 0;
    bool followed = false;  ///< If this is true, the variable's rule has norms.
  };
  /// The variables of a stage that are trained are in the order of StagePlan::variables.
  struct StageVariables {
    std::vector<std::int32_t> whole = {};
    std::vector<ShardedVariable> sharded = {};
    bool any_followed = false;  ///< If this is true, `follow` measures norms in the stage.
  };
  std::int64_t elements_of(std::int32_t variable) const {
    return setup_->plan->variables[static_cast<std::size_t>(variable)].type.shape.elements();
  }
  /// Returns the place in `reported_shards_` of a stage's report.
  std::size_t place_of(std::int32_t replica, std::int32_t stage) const {
    return static_cast<std::size_t>(replica) * setup_->stages() + static_cast<std::size_t>(stage);
  }
  /// Checks that `norms` are of the variables of which `round` measures norms in a stage.
  void check(UpdateRound round, std::int32_t replica, std::int32_t stage,
             const UpdateNorms& norms) const;
  bool has_whole_norms(UpdateRound round, std::int32_t replica, std::int32_t stage,
                       const std::vector<VariableNorm>& norms) const;
  bool has_shard_norms(UpdateRound round, std::int32_t replica, std::int32_t stage,
                       const std::vector<ShardNorm>& norms) const;

  std::shared_ptr<const PipelineSetup> setup_;
  bool any_sharded_ = false;
  bool any_followed_ = false;
  std::vector<StageVariables> of_stage_;  // There is one element for each stage.
  // This has the norms of shards that each optimizer reported last, replica by replica and stage by
  // stage.
  std::vector<std::vector<ShardNorm>> reported_shards_;
  std::vector<const graph::NormPart*> parts_;  // This has room for one variable's parts.
  std::vector<double> gradients_;
  std::vector<double> directions_;
};

}  // namespace penstock::actors
