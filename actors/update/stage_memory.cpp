#include "actors/update/stage_memory.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "actors/update/whole_state.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {
namespace {

/// Returns whether the weights of the stage of `update` are not in the middle of an update, and
/// have had as many updates as the weights of the stage of `first`.
bool agrees(const WeightUpdate& update, const WeightUpdate& first) {
  return update.whole() && update.updates() == first.updates();
}

/// A Disagreement is between two stages, or in one stage that is in the middle of an update, where
/// both members are the same.
struct Disagreement {
  std::size_t first = 0;
  std::size_t second = 0;
};

/// Returns nothing if the weights of all `stages` that are in this process have had the same
/// updates, and none is in the middle of one.
std::optional<Disagreement> find_disagreement(std::span<const StageMemory> stages) {
  std::optional<std::size_t> first;
  for (std::size_t at = 0; at < stages.size(); ++at) {
    if (!stages[at].update) continue;
    if (!first) first = at;
    if (!agrees(*stages[at].update, *stages[*first].update)) return Disagreement{*first, at};
  }
  return {};
}

/// Checks that the stages of all replicas have done the same updates. There are `count` stages in
/// each replica.
void expect_agreement(std::span<const StageMemory> stages, std::size_t count) {
  const auto found = find_disagreement(stages);
  if (!found) return;
  const auto name = [&](std::size_t at) {
    return "stage " + std::to_string(at % count) + " of replica " + std::to_string(at / count);
  };
  const bool alone = found->first == found->second;
  throw Error(
      Errc::closed,
      "the weights cannot be read: the failure came in the middle of an update, which " +
          name(found->first) +
          (alone ? " had not finished" : " and " + name(found->second) + " had not both finished"));
}

}  // namespace

bool have_same_updates(std::span<const StageMemory> stages) {
  return !find_disagreement(stages);
}

std::vector<Tensor> read_variables(const graph::Plan& plan, std::span<const StageMemory> stages,
                                   std::size_t replica) {
  const std::size_t count = plan.stages.size();
  expect_agreement(stages, count);
  std::vector<Tensor> variables(plan.variables.size());
  for (const StageMemory& stage : stages.subspan(replica * count, count)) {
    if (!stage.arena) continue;
    const auto& held = stage.arena->stage().variables;
    for (std::size_t k = 0; k < held.size(); ++k)
      if (held[k].owner == graph::none)
        variables[static_cast<std::size_t>(held[k].variable)] = stage.arena->read_variable(k);
  }
  return variables;
}

void write_variables(std::span<const StageMemory> stages, std::span<const Tensor> values) {
  for (const StageMemory& stage : stages) {
    if (!stage.arena) continue;
    const auto& held = stage.arena->stage().variables;
    for (std::size_t k = 0; k < held.size(); ++k)
      stage.arena->write_variable(k, values[static_cast<std::size_t>(held[k].variable)]);
  }
}

void write_buffers(std::span<const StageMemory> stages, std::span<const Tensor> values) {
  for (const StageMemory& stage : stages) {
    if (!stage.arena) continue;
    const auto& held = stage.arena->stage().variables;
    for (std::size_t k = 0; k < held.size(); ++k)
      if (held[k].home.space == graph::Space::buffers)
        stage.arena->write_variable(k, values[static_cast<std::size_t>(held[k].variable)]);
  }
}

OptimizerTensors read_optimizer(const graph::Plan& plan, std::span<const StageMemory> stages) {
  expect_agreement(stages, plan.stages.size());
  std::vector<VariableState> states;
  for (const StageMemory& stage : stages)
    std::ranges::move(stage.update->read_state(), std::back_inserter(states));
  return {stages[0].update->updates(), whole_state(plan, states)};
}

void write_optimizer(std::span<const StageMemory> stages, const OptimizerTensors& state) noexcept {
  for (const StageMemory& stage : stages) stage.update->restore_state(state);
}

}  // namespace penstock::actors
