// This function makes the network of one training of a Model.
#include <algorithm>

#include "engine/model/matching_variables.hpp"
#include "engine/model/model_access.hpp"
#include "engine/model/model_state.hpp"
#include "engine/names/name_pattern.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/objective.hpp"

namespace penstock {
namespace {

std::string field(const char* name, std::size_t i) {
  return std::string("objective.") + name + "[" + std::to_string(i) + "]";
}

void set_loss(graph::Graph& graph, graph::ValueId loss) {
  if (const graph::TensorType& type = graph.type(loss); type.dtype != DType::f32)
    throw Error(Errc::shape_mismatch,
                "objective.loss: expected a value of type f32, got " + to_string(type));
  graph.loss = loss;
}

/// Freezes all parameters but those whose names match a pattern.
void freeze_others(graph::Graph& graph, const std::vector<std::string>& patterns) {
  std::vector<bool> trained(graph.variables.size());
  bool all = false;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    all = all || patterns[i] == "*";
    if (patterns[i] == "*") continue;  // The pattern may also match nothing.
    for (const std::size_t chosen :
         matching_variables(graph, graph::ValueKind::parameter, patterns[i], field("trains", i)))
      trained[chosen] = true;
  }
  if (all) return;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    graph::Variable& variable = graph.variables[i];
    if (!trained[i] && graph.value(variable.value).kind == graph::ValueKind::parameter)
      variable.frozen = true;
  }
}

/// Removes all outputs but those whose names match a pattern.
void remove_other_outputs(graph::Graph& graph, const std::vector<std::string>& patterns) {
  std::vector<std::string_view> names;
  for (const graph::Output& output : graph.outputs) names.push_back(output.name);
  std::vector<bool> wanted(names.size());
  bool all = false;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    all = all || patterns[i] == "*";
    if (patterns[i] == "*") continue;
    for (const std::size_t output :
         expect_matches(patterns[i], names, field("outputs", i) + ": there is no output"))
      wanted[output] = true;
  }
  if (all) return;
  std::vector<graph::Output> outputs;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (wanted[i]) outputs.push_back(graph.outputs[i]);
  graph.outputs = std::move(outputs);
}

}  // namespace

graph::Graph ModelAccess::graph_of(const Model& model, const Objective& objective) {
  const ModelState& impl = *model.impl_;
  graph::Graph graph = impl.network.graph();
  if (objective.loss) set_loss(graph, impl.id("objective.loss", objective.loss));
  freeze_others(graph, objective.trains);
  remove_other_outputs(graph, objective.outputs);
  return graph;
}

}  // namespace penstock
