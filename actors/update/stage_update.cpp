#include "actors/update/stage_update.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "graph/plan/shards.hpp"
#include "graph/values/memory.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {
namespace {

/// Returns the largest number of gradient sums that the update of a stage adds up at a time: the
/// number of replicas, or of the uses of a parameter.
std::size_t most_addends(const PipelineSetup& setup, std::size_t stage) {
  auto most = static_cast<std::size_t>(setup.replicas);
  for (const graph::VariablePlan& variable : setup.plan->stages[stage].variables)
    most = std::max(most, variable.gradients.size());
  return most;
}

/// Gives the state that `rule` keeps for `trained` its place in a block whose first `bytes` bytes
/// are taken, and adds the state's bytes to `bytes`.
void place_state(TrainedVariable& trained, const graph::ParameterRule& rule, std::int64_t& bytes) {
  for (const graph::StateTensor& tensor : rule.rule->state(rule.hyper)) {
    if (trained.state_offsets.size() == graph::most_state_tensors)
      throw Error(Errc::internal,
                  "optimizer rule \"" + std::string(rule.rule->name) + "\" keeps more than " +
                      std::to_string(graph::most_state_tensors) + " tensors of a parameter");
    trained.state_offsets.push_back(bytes);
    trained.initial_state.push_back(tensor.initial);
    bytes += aligned(bytes_of(trained.own_elements));
  }
}

/// Returns which elements of a variable that is not sharded the replica updates. The replicas share
/// the memory of parameters, so that each element is updated once. A rule that does not work
/// element by element, or a tied parameter, is all the first replica's.
graph::Part share_of(const StageUpdate& update, const TrainedVariable& trained) {
  constexpr std::int64_t line_elements = 16;  // No two replicas write to one cache line.
  const std::int64_t elements = trained.elements();
  const bool is_shared = update.rule_of(trained).rule->elementwise &&
                         trained.plan->gradients.size() == 1 && trained.plan->copies.empty();
  if (!is_shared) return {0, update.replica == 0 ? elements : 0};
  const std::int64_t lines = (elements + line_elements - 1) / line_elements;
  return graph::elements_of(graph::shard_of(lines, update.setup->replicas, update.replica),
                            line_elements, elements);
}

TrainedVariable trained_variable(const StageUpdate& update, std::size_t position) {
  const graph::VariablePlan& variable = update.arena->stage().variables[position];
  const std::int64_t elements = variable.type.shape.elements(), replicas = update.setup->replicas;
  TrainedVariable trained;
  trained.variable = variable.variable;
  trained.plan = &variable;
  trained.position = position;
  trained.state_in_host_store = update.setup->offload.optimizer_state.takes(variable.type.bytes());
  trained.sharded = is_sharded(*update.setup, update.rule_of(trained), elements);
  trained.share = trained.sharded ? graph::shard_of(elements, replicas, update.replica)
                                  : share_of(update, trained);
  trained.own_elements =
      trained.sharded ? graph::shard_elements(elements, replicas) : size(trained.share);
  return trained;
}

/// Returns what one round `reduce` adds to the stage's report for parameters that are not sharded.
/// Some of the stage's gradient sums belong to parameters of other stages.
CollectiveReport all_reduces(const StageUpdate& update) {
  const PipelineSetup& setup = *update.setup;
  CollectiveReport report;
  if (setup.replicas == 1) return report;
  for (const graph::StagePlan& stage : setup.plan->stages)
    for (const graph::VariablePlan& variable : stage.variables)
      for (const graph::GradientPlan& gradient : variable.gradients) {
        if (static_cast<std::size_t>(gradient.stage) != update.arena->number()) continue;
        const std::int64_t elements = variable.type.shape.elements();
        const auto& rule = update.rules->variables[static_cast<std::size_t>(variable.variable)];
        if (is_sharded(setup, rule, elements)) continue;
        ++report.all_reduces;
        report.all_reduced_bytes +=
            2 *
            bytes_of(elements - size(graph::shard_of(elements, setup.replicas, update.replica)));
      }
  return report;
}

}  // namespace

StageUpdate::StageUpdate(std::shared_ptr<const PipelineSetup> pipeline, std::size_t stage,
                         std::shared_ptr<Arena> memory,
                         std::shared_ptr<const UpdateRules> update_rules,
                         std::int64_t replica_number)
    : setup(std::move(pipeline)),
      arena(std::move(memory)),
      rules(std::move(update_rules)),
      replica(replica_number),
      sums(arena, most_addends(*setup, stage)) {
  const auto& variables = setup->plan->stages[stage].variables;
  std::size_t shards = 0;
  for (std::size_t k = 0; k < variables.size(); ++k) {
    if (variables[k].gradients.empty()) continue;
    TrainedVariable& variable = trained.emplace_back(trained_variable(*this, k));
    place_state(variable, rule_of(variable),
                variable.state_in_host_store ? host_block_bytes : ipu_block_bytes);
    if (variable.sharded) variable.shard_norm = shards++;
  }
  of_reducer = all_reduces(*this);
}

const graph::ParameterRule& StageUpdate::rule_of(const TrainedVariable& variable) const {
  return rules->variables[static_cast<std::size_t>(variable.variable)];
}

bool StageUpdate::moves_in_shards(const TrainedVariable& variable) const {
  return variable.sharded && rule_of(variable).rule->in_shards;
}

float StageUpdate::gradient_scale() const {
  return static_cast<float>(1 / (gradient_parts(*setup) * rules->loss_scaling));
}

graph::StagedUpdate StageUpdate::staged(const TrainedVariable& variable) const {
  const auto state_tensors = static_cast<std::int32_t>(variable.state_offsets.size());
  return {.elements = variable.elements_on_ipu(),
          .state_tensors = variable.state_in_host_store ? state_tensors : 0,
          .sum = variable.sums_on_host(),
          .elementwise = rule_of(variable).rule->elementwise,
          .weight = variable.weight_on_host(),
          .measured = moves_in_shards(variable) ? variable.elements() : 0};
}

std::span<float> StageUpdate::weight(const TrainedVariable& variable,
                                     const graph::Part& elements) const {
  return arena->variable(variable.position)
      .subspan(static_cast<std::size_t>(elements.begin), static_cast<std::size_t>(size(elements)));
}

void StageUpdate::write_copies(const TrainedVariable& variable,
                               const StagingBuffer& staging) const {
  const auto weight = arena->variable(variable.position);
  for (const graph::CopyPlan& copy : variable.plan->copies) {
    Arena& other = sums.arena_of(copy.stage);
    std::ranges::copy(weight, other.variable(static_cast<std::size_t>(copy.position)).begin());
    staging.beat();
  }
}

void StageUpdate::end() {
  arena->weights_changed();
  arena->keep_buffers();
  uses_added = false;
  ++step;
  applying = false;
  // The update is counted here, where nothing can fail between the weights and their count.
  if (setup->update_count) setup->update_count->count_stage();
}

}  // namespace penstock::actors
