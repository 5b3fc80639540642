#include "graph/compile/compile_warnings.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "graph/compile/build_plan.hpp"
#include "graph/compile/plan_choice.hpp"
#include "graph/ir/op.hpp"
#include "graph/values/text.hpp"

namespace penstock::graph {
namespace {

using Notes = std::vector<Note>;

void warn_of_many_threads(const StagedGraph& staged, const Plan& plan,
                          const CompileRequest& request, Notes& warnings) {
  const auto warn = [&](Option option, const std::string& what) {
    warnings.push_back({option, what + " are more than the machine's " +
                                    std::to_string(request.cores) + " cores: they take turns"});
  };
  if (request.cores == 0) return;
  if (request.threads > request.cores)
    warn(Option::threads, std::to_string(request.threads) + " worker threads");
  const std::int32_t each = plan.threads_per_ipu;
  const std::int32_t ipus = used_ipus(staged, request.replicas);
  if (each > 1 && std::int64_t{each} * ipus > request.cores)
    warn(Option::threads_per_ipu, std::to_string(each) + " threads of each of " +
                                      std::to_string(ipus) + (ipus == 1 ? " IPU" : " IPUs"));
}

void warn_of_untrained(const Graph& model, const Graph& graph, Notes& warnings) {
  const auto trained = trained_values(graph);
  for (const Variable& variable : model.variables)
    if (const Value& value = model.value(variable.value);
        value.kind == ValueKind::parameter && !variable.frozen && !trained[index(variable.value)])
      warnings.push_back({.text = "parameter " + quoted_text(value.name) +
                                  " does not influence the loss and is not trained"});
}

void warn_of_own_statistics(const Graph& graph, std::int64_t replicas, Notes& warnings) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes)
    if (node.op->has_batch_statistics) names.push_back(node.name);
  if (names.empty() || replicas == 1) return;
  const std::string others =
      names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more" : "";
  warnings.push_back({.text = "batch norm " + quoted_text(names[0]) + others + ": each of " +
                              std::to_string(replicas) +
                              " replicas normalises by its own micro-batches and keeps running "
                              "statistics of its own; replica 0's are read back"});
}

/// An OffloadClass is a class of tensors that the host store may keep, as the warnings of options
/// without effect need it.
struct OffloadClass {
  Option option;   ///< This option keeps the class in the host store.
  Option minimum;  ///< This option sets the least size of a tensor that the host store keeps.
  Offload OffloadOptions::*offload;
  bool in_inference;
  /// This function returns the bytes of the largest tensor of the class that `stage` has, or 0 if
  /// it has none.
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
    if (plan.variables[index(variable.variable)].trainable || in_host_store(variable.home.space))
      largest = std::max(largest, variable.type.bytes());
  return largest;
}

/// Returns the bytes of the largest tensor that the forward program of `stage` leaves in the stash,
/// or for the host.
std::int64_t largest_activation(const Plan&, const StagePlan& stage, const MemoryBudget&) {
  std::int64_t largest = 0;
  for (const Instruction& instruction : stage.forward.instructions)
    for (std::size_t i = 0; i < instruction.outputs.size(); ++i)
      if (const Space space = instruction.outputs[i].space;
          space == Space::stash || space == Space::host_stash || space == Space::outputs)
        largest = std::max(largest, instruction.output_types[i].bytes());
  return largest;
}

constexpr std::array<OffloadClass, 4> classes{
    {{Option::offload_optimizer_state, Option::least_offloaded_optimizer_state,
      &OffloadOptions::optimizer_state, false, largest_state},
     {Option::offload_accumulators, Option::least_offloaded_accumulators,
      &OffloadOptions::accumulators, false, largest_sum},
     {Option::offload_activations, Option::least_offloaded_activations,
      &OffloadOptions::activations, false, largest_activation},
     {Option::offload_weights, Option::least_offloaded_weights, &OffloadOptions::weights, true,
      largest_weight}}};

std::string number_of_bytes(std::int64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

/// Warns of each class of tensors that the host store is asked to keep although every tensor of the
/// class is smaller than the minimum. Warns also if the host store is asked to keep the optimizer's
/// state and the optimizer has none, unless execution is in phases, where the host store keeps that
/// state by default.
void warn_of_idle_offload(const Plan& plan, const OffloadOptions& offload,
                          const MemoryBudget& budget, Notes& warnings) {
  for (const OffloadClass& one : classes) {
    const Offload& of = offload.*one.offload;
    if (!of.on || (!plan.training && !one.in_inference)) continue;
    std::int64_t largest = 0;
    for (const StagePlan& stage : plan.stages)
      largest = std::max(largest, one.largest(plan, stage, budget));
    if (largest == 0 && &of == &offload.optimizer_state && plan.phases.none())
      warnings.push_back(
          {one.option, "the optimizer keeps no state, and nothing is kept in the host store"});
    if (largest > 0 && !of.takes(largest))
      warnings.push_back({one.minimum, "nothing is kept in the host store: no tensor has " +
                                           number_of_bytes(of.minimum_bytes) +
                                           ", the largest has " + std::to_string(largest)});
  }
}

/// Returns why no tensor of the optimizer's state is divided although `budget` asks for division,
/// or nothing if some tensor is divided or division was not asked for.
std::optional<Note> idle_sharding(const Plan& plan, const MemoryBudget& budget) {
  if (!budget.shard_state.on) return std::nullopt;
  const auto note = [](const char* text) { return Note{Option::shard_optimizer_state, text}; };
  if (budget.replicas == 1)
    return note("there are no replicas to share with, and nothing is divided");
  std::int64_t largest = 0;
  for (const StagePlan& stage : plan.stages)
    largest = std::max(largest, largest_state(plan, stage, budget));
  const std::int64_t elements = largest / static_cast<std::int64_t>(sizeof(float));
  if (elements == 0) return note("the optimizer keeps no state, and nothing is divided");
  if (budget.shard_state.divides(elements, budget.replicas)) return std::nullopt;
  return Note{Option::least_sharded_optimizer_state,
              "nothing is divided: no tensor has " +
                  std::to_string(budget.shard_state.minimum_elements) +
                  " elements, the largest has " + std::to_string(elements)};
}

}  // namespace

Notes compile_warnings(const Graph& model, const StagedGraph& staged, const Plan& plan,
                       const CompileRequest& request) {
  Notes warnings;
  warn_of_many_threads(staged, plan, request, warnings);
  warn_of_idle_offload(plan, offload_of(request), request.memory, warnings);
  if (!request.training) return warnings;
  warn_of_untrained(model, staged.graph, warnings);
  if (request.recompute.on && plan.stages.size() == 1)
    warnings.push_back(
        {.text = "nothing is recomputed: the only stage is the last one, whose backward follows "
                 "its forward at once"});
  warn_of_own_statistics(staged.graph, request.replicas, warnings);
  if (auto note = idle_sharding(plan, request.memory)) warnings.push_back(*std::move(note));
  return warnings;
}

}  // namespace penstock::graph
