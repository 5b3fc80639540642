#include "actors/update/stage_memory.hpp"

#include <algorithm>
#include <iterator>
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

/// Returns the first of `stages` whose weights are in the middle of an update, or have had other
/// updates than those of the first stage, or the end if there is none.
auto find_disagreement(std::span<const StageMemory> stages) {
  return std::ranges::find_if(stages, [&](const StageMemory& stage) {
    return stage.update && !agrees(*stage.update, *stages[0].update);
  });
}

/// Checks that the stages of all replicas have done the same updates. There are `count` stages in
/// each replica.
void expect_agreement(std::span<const StageMemory> stages, std::size_t count) {
  const auto found = find_disagreement(stages);
  if (found == stages.end()) return;
  const auto at = static_cast<std::size_t>(found - stages.begin());
  const std::string other = at == 0 ? ""
                                    : " and stage " + std::to_string(at % count) + " of replica " +
                                          std::to_string(at / count);
  throw Error(Errc::closed,
              "the weights cannot be read: the failure came in the middle of an update, which "
              "stage 0 of replica 0" +
                  other + (at == 0 ? " had not finished" : " had not both finished"));
}

}  // namespace

bool have_same_updates(std::span<const StageMemory> stages) {
  return find_disagreement(stages) == stages.end();
}

std::vector<Tensor> read_variables(const graph::Plan& plan, std::span<const StageMemory> stages,
                                   std::size_t replica) {
  const std::size_t count = plan.stages.size();
  expect_agreement(stages, count);
  std::vector<Tensor> variables(plan.variables.size());
  for (const StageMemory& stage : stages.subspan(replica * count, count)) {
    const auto& held = stage.arena->stage().variables;
    for (std::size_t k = 0; k < held.size(); ++k)
      if (held[k].owner == graph::none)
        variables[static_cast<std::size_t>(held[k].variable)] = stage.arena->read_variable(k);
  }
  return variables;
}

void write_variables(std::span<const StageMemory> stages, std::span<const Tensor> values) {
  for (const StageMemory& stage : stages) {
    const auto& held = stage.arena->stage().variables;
    for (std::size_t k = 0; k < held.size(); ++k)
      stage.arena->write_variable(k, values[static_cast<std::size_t>(held[k].variable)]);
  }
}

void write_buffers(std::span<const StageMemory> stages, std::span<const Tensor> values) {
  for (const StageMemory& stage : stages) {
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
