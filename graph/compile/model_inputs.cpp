#include "graph/compile/model_inputs.hpp"

#include <algorithm>

#include "graph/ir/op.hpp"
#include "graph/passes/network/model_form.hpp"
#include "graph/passes/network/prune.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

ValueId loss_or_none(const Graph& graph) {
  try {
    return final_loss(graph);
  } catch (const Error&) {
    return none;
  }
}

std::vector<bool> values_made_of_losses(const Graph& graph) {
  std::vector<bool> made(graph.values.size());
  for (const Node& node : graph.nodes) {
    const bool is_made = node.op->is_loss || std::ranges::any_of(node.inputs, [&](ValueId input) {
                           return made[index(input)];
                         });
    for (const ValueId output : node.outputs) made[index(output)] = is_made;
  }
  return made;
}

bool needs_any(const Graph& graph, ValueId value, const std::vector<ValueId>& inputs) {
  return std::ranges::any_of(prune(graph, {value}).inputs,
                             [&](ValueId input) { return std::ranges::count(inputs, input) > 0; });
}

Targets::Input described(const Graph& graph, ValueId input) {
  const auto found = std::ranges::find(graph.dynamic_axes, input, &DynamicAxis::input);
  return {.name = graph.value(input).name,
          .type = graph.type(input),
          .dynamic_axis = found == graph.dynamic_axes.end() ? 0 : found->axis};
}

}  // namespace

std::vector<std::string> step_inputs(const Graph& graph) {
  std::vector<ValueId> wanted;
  if (const ValueId loss = loss_or_none(graph); loss != none) wanted.push_back(loss);
  for (const Output& output : graph.outputs) wanted.push_back(output.value);
  std::vector<std::string> names;
  for (const ValueId input : prune(graph, wanted).inputs) names.push_back(graph.value(input).name);
  return names;
}

Targets targets_of(const Graph& graph) {
  const std::vector<bool> made = values_made_of_losses(graph);
  std::vector<ValueId> predictions;
  for (const Output& output : graph.outputs)
    if (!made[index(output.value)]) predictions.push_back(output.value);
  Targets targets;
  targets.has_rows.assign(graph.outputs.size(), true);
  targets.needs_any.assign(graph.outputs.size(), false);
  if (predictions.empty()) return targets;

  const std::vector<ValueId> needed = prune(graph, predictions).inputs;
  std::vector<ValueId> only_losses;
  for (const ValueId input : graph.inputs)
    if (std::ranges::count(needed, input) == 0) only_losses.push_back(input);
  for (const ValueId input : only_losses) targets.inputs.push_back(described(graph, input));
  for (const DynamicAxis& dynamic : graph.dynamic_axes)
    targets.dynamic.push_back(described(graph, dynamic.input));
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId value = graph.outputs[i].value;
    targets.has_rows[i] = !made[index(value)] || graph.type(value).shape.rank() > 0;
    targets.needs_any[i] = needs_any(graph, value, only_losses);
  }
  return targets;
}

}  // namespace penstock::graph
