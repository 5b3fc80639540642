#include "graph/compile/offload_choices.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace penstock::graph {
namespace {

struct OffloadClass {
  const char* name;
  Option option;   ///< Turns the class on.
  Option minimum;  ///< Is the least size of a tensor of the class.
  Option on_ipu;   ///< Keeps the class on the IPUs in phases.
  Offload OffloadOptions::*offload;
  bool in_inference;
  /// Returns the bytes of the largest tensor of a stage that belongs to the class.
  std::int64_t (*largest)(const Plan& plan, const StagePlan& stage, const MemoryBudget& budget);
};

std::int64_t largest_state(const Plan& plan, const StagePlan& stage, const MemoryBudget& budget) {
  std::int64_t largest = 0;
  for (const VariablePlan& variable : stage.variables)
    if (!variable.gradients.empty() && budget.state &&
        budget.state(plan.variables[index(variable.variable)].name).tensors > 0)
      largest = std::max(largest, variable.type.bytes());
  return largest;
}

std::int64_t largest_sum(const Plan&, const StagePlan& stage, const MemoryBudget&) {
  std::int64_t largest = 0;
  for (const VariablePlan& variable : stage.variables)
    if (!variable.gradients.empty()) largest = std::max(largest, variable.type.bytes());
  return largest;
}

std::int64_t largest_weight(const Plan& plan, const StagePlan& stage, const MemoryBudget&) {
  std::int64_t largest = 0;
  for (const VariablePlan& variable : stage.variables)
    if (plan.variables[index(variable.variable)].trainable)
      largest = std::max(largest, variable.type.bytes());
  return largest;
}

/// Returns the bytes of the largest tensor that forward programs leave in the stash.
std::int64_t largest_activation(const Plan&, const StagePlan& stage, const MemoryBudget&) {
  std::int64_t largest = 0;
  for (const Instruction& instruction : stage.forward.instructions)
    for (std::size_t i = 0; i < instruction.outputs.size(); ++i)
      if (const Space space = instruction.outputs[i].space;
          space == Space::stash || space == Space::host_stash)
        largest = std::max(largest, instruction.output_types[i].bytes());
  return largest;
}

constexpr std::array<OffloadClass, 4> classes{
    {{"the optimizer's state", Option::offload_optimizer_state,
      Option::least_offloaded_optimizer_state, Option::optimizer_state_on_ipu,
      &OffloadOptions::optimizer_state, false, largest_state},
     {"the gradient sums", Option::offload_accumulators, Option::least_offloaded_accumulators,
      Option::accumulators_on_ipu, &OffloadOptions::accumulators, false, largest_sum},
     {"the activations", Option::offload_activations, Option::least_offloaded_activations,
      Option::activations_on_ipu, &OffloadOptions::activations, false, largest_activation},
     {"the weights", Option::offload_weights, Option::least_offloaded_weights,
      Option::weights_on_ipu, &OffloadOptions::weights, true, largest_weight}}};

using Chosen = std::vector<const OffloadClass*>;

OffloadChoice choice_of(const Chosen& chosen, OffloadOptions offload, bool phased) {
  Remedy remedy;
  for (const OffloadClass* one : chosen) {
    (offload.*one->offload).on = true;
    const bool is_last = one == chosen.back();
    remedy.text += (remedy.text.empty() ? "" : is_last ? " and " : ", ") + std::string(one->name);
    (phased ? remedy.turned_off : remedy.turned_on).push_back(phased ? one->on_ipu : one->option);
  }
  remedy.text += " in the host store";
  return {std::move(remedy), offload, static_cast<int>(chosen.size())};
}

std::string number_of_bytes(std::int64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

}  // namespace

std::vector<OffloadChoice> offload_choices(const OffloadOptions& offload, bool training,
                                           bool phased) {
  Chosen off;
  for (const OffloadClass& one : classes)
    if (!(offload.*one.offload).on && (training || one.in_inference)) off.push_back(&one);
  std::vector<OffloadChoice> choices;
  for (unsigned set = 1; set < 1u << off.size(); ++set) {
    Chosen chosen;
    for (std::size_t i = 0; i < off.size(); ++i)
      if (set >> i & 1u) chosen.push_back(off[i]);
    choices.push_back(choice_of(chosen, offload, phased));
  }
  std::ranges::stable_sort(choices, std::less<>(), &OffloadChoice::classes);
  return choices;
}

std::vector<Note> idle_offload(const Plan& plan, const OffloadOptions& offload,
                               const MemoryBudget& budget) {
  std::vector<Note> notes;
  for (const OffloadClass& one : classes) {
    const Offload& of = offload.*one.offload;
    if (!of.on || (!plan.training && !one.in_inference)) continue;
    std::int64_t largest = 0;
    for (const StagePlan& stage : plan.stages)
      largest = std::max(largest, one.largest(plan, stage, budget));
    if (largest == 0 && &of == &offload.optimizer_state && plan.phases.none())
      notes.push_back(
          {one.option, "the optimizer keeps no state, and nothing is kept in the host store"});
    if (largest > 0 && !of.takes(largest))
      notes.push_back({one.minimum, "nothing is kept in the host store: no tensor has " +
                                        number_of_bytes(of.minimum_bytes) + ", the largest has " +
                                        std::to_string(largest)});
  }
  return notes;
}

}  // namespace penstock::graph
