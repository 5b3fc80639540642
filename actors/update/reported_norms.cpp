#include "actors/update/reported_norms.hpp"

#include <algorithm>
#include <utility>

#include "graph/plan/shards.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {

ReportedNorms::ReportedNorms(std::shared_ptr<const PipelineSetup> setup, const UpdateRules& rules)
    : setup_(std::move(setup)),
      of_stage_(setup_->stages()),
      reported_shards_(setup_->stages() * static_cast<std::size_t>(setup_->replicas)),
      parts_(static_cast<std::size_t>(setup_->replicas)),
      gradients_(setup_->plan->variables.size()),
      directions_(gradients_.size()) {
  for (std::size_t stage = 0; stage < of_stage_.size(); ++stage)
    for (const graph::VariablePlan& variable : setup_->plan->stages[stage].variables) {
      if (variable.gradients.empty()) continue;
      const graph::ParameterRule& rule =
          rules.variables[static_cast<std::size_t>(variable.variable)];
      if (!is_sharded(*setup_, rule, variable.type.shape.elements())) {
        of_stage_[stage].whole.push_back(variable.variable);
        continue;
      }
      const bool followed = rule.rule->in_shards != nullptr;
      of_stage_[stage].sharded.push_back({variable.variable, followed});
      any_sharded_ = true;
      of_stage_[stage].any_followed = of_stage_[stage].any_followed || followed;
      any_followed_ = any_followed_ || followed;
    }
}

// The norms are moved out of `norms` and not copied, because an update allocates nothing.
void ReportedNorms::take(UpdateRound round, std::int32_t replica, std::int32_t stage,
                         UpdateNorms& norms) {
  check(round, replica, stage, norms);
  if (round == UpdateRound::measure)
    for (const VariableNorm& norm : norms.whole)
      gradients_[static_cast<std::size_t>(norm.variable)] = norm.squared;
  reported_shards_[place_of(replica, stage)] = std::move(norms.shards);
}

void ReportedNorms::check(UpdateRound round, std::int32_t replica, std::int32_t stage,
                          const UpdateNorms& norms) const {
  if (has_whole_norms(round, replica, stage, norms.whole) &&
      has_shard_norms(round, replica, stage, norms.shards))
    return;
  throw Error(Errc::internal, "the message RoundDone of " +
                                  stage_name(*setup_, replica, static_cast<std::size_t>(stage)) +
                                  " does not have the norms that the round " + name_of(round) +
                                  " measures there, one of each variable and as long as its shard");
}

bool ReportedNorms::has_whole_norms(UpdateRound round, std::int32_t replica, std::int32_t stage,
                                    const std::vector<VariableNorm>& norms) const {
  if (round != UpdateRound::measure) return true;
  if (replica > 0) return norms.empty();
  return std::ranges::equal(norms, of_stage_[static_cast<std::size_t>(stage)].whole, {},
                            &VariableNorm::variable);
}

// The report of a stage in which `follow` measures norms has places for the norms of all sharded
// variables, and uses those of the variables whose rules have norms.
bool ReportedNorms::has_shard_norms(UpdateRound round, std::int32_t replica, std::int32_t stage,
                                    const std::vector<ShardNorm>& norms) const {
  const StageVariables& variables = of_stage_[static_cast<std::size_t>(stage)];
  if (round == UpdateRound::follow && !variables.any_followed) return norms.empty();
  const auto fits = [&](const ShardNorm& norm, const ShardedVariable& variable) {
    if (norm.variable != variable.variable) return false;
    if (round == UpdateRound::follow && !variable.followed) return true;
    const std::int64_t elements = elements_of(variable.variable);
    return graph::fits(norm.part, graph::shard_of(elements, setup_->replicas, replica), elements);
  };
  return std::ranges::equal(norms, variables.sharded, fits);
}

void ReportedNorms::add_up(UpdateRound round) {
  std::vector<double>& sums = round == UpdateRound::measure ? gradients_ : directions_;
  for (std::int32_t stage = 0; stage < std::ssize(of_stage_); ++stage) {
    const auto& sharded = of_stage_[static_cast<std::size_t>(stage)].sharded;
    for (std::size_t i = 0; i < sharded.size(); ++i) {
      if (round == UpdateRound::follow && !sharded[i].followed) continue;
      for (std::int32_t replica = 0; replica < setup_->replicas; ++replica)
        parts_[static_cast<std::size_t>(replica)] =
            &reported_shards_[place_of(replica, stage)][i].part;
      sums[static_cast<std::size_t>(sharded[i].variable)] =
          graph::squared_norm(parts_, elements_of(sharded[i].variable));
    }
  }
}

}  // namespace penstock::actors
