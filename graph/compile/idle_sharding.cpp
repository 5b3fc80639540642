#include "graph/compile/idle_sharding.hpp"

#include <algorithm>
#include <string>

namespace penstock::graph {
namespace {

/// Counts the elements of the largest tensor of which the optimizer keeps state.
std::int64_t largest_with_state(const Plan& plan, const MemoryBudget& budget) {
  std::int64_t largest = 0;
  for (const StagePlan& stage : plan.stages)
    for (const VariablePlan& variable : stage.variables)
      if (!variable.gradients.empty() && budget.state &&
          budget.state(plan.variables[index(variable.variable)].name).tensors > 0)
        largest = std::max(largest, variable.type.shape.elements());
  return largest;
}

}  // namespace

std::optional<Note> idle_sharding(const Plan& plan, const MemoryBudget& budget) {
  if (!plan.training || !budget.shard_state.on) return std::nullopt;
  const auto note = [](const char* text) { return Note{Option::shard_optimizer_state, text}; };
  if (budget.replicas == 1)
    return note("there are no replicas to share with, and nothing is divided");
  const std::int64_t largest = largest_with_state(plan, budget);
  if (largest == 0) return note("the optimizer keeps no state, and nothing is divided");
  if (budget.shard_state.divides(largest, budget.replicas)) return std::nullopt;
  return Note{Option::least_sharded_optimizer_state,
              "nothing is divided: no tensor has " +
                  std::to_string(budget.shard_state.minimum_elements) +
                  " elements, the largest has " + std::to_string(largest)};
}

}  // namespace penstock::graph
