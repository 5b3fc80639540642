// These functions freeze and unfreeze parameters and buffers of a Model.
#include <algorithm>

#include "engine/model/matching_variables.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ir/op.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::string subject_of(const graph::Graph& graph) {
  return "model " + quoted_text(graph.name);
}

/// Returns the positions of the buffers of all nodes that update one of the buffers at the
/// positions `chosen`.
std::vector<std::size_t> buffers_of_layers(const graph::Graph& graph,
                                           const std::vector<std::size_t>& chosen) {
  std::vector<bool> named(graph.values.size()), found(graph.values.size());
  for (const std::size_t i : chosen) named[graph::index(graph.variables[i].value)] = true;
  for (const graph::Node& node : graph.nodes) {
    const auto buffer = [&](const graph::Update& update) {
      return graph::index(node.inputs[graph::index(update.input)]);
    };
    const auto is_named = [&](const graph::Update& update) { return named[buffer(update)]; };
    if (std::ranges::any_of(node.op->updates, is_named))
      for (const graph::Update& update : node.op->updates) found[buffer(update)] = true;
  }
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < graph.variables.size(); ++i)
    if (found[graph::index(graph.variables[i].value)]) positions.push_back(i);
  return positions;
}

/// Freezes or unfreezes the parameters of `impl` whose names `pattern` matches.
void freeze_parameters(ModelState& impl, const std::string& pattern, bool frozen) {
  const graph::Graph& graph = impl.network.graph();
  impl.network.freeze(
      matching_variables(graph, graph::ValueKind::parameter, pattern, subject_of(graph)), frozen);
}

/// Freezes or unfreezes the buffers of the layers of `impl` that have a buffer whose name `pattern`
/// matches.
void freeze_buffers(ModelState& impl, const std::string& pattern, bool frozen) {
  const graph::Graph& graph = impl.network.graph();
  const auto chosen =
      matching_variables(graph, graph::ValueKind::buffer, pattern, subject_of(graph));
  const std::vector<std::size_t> buffers = buffers_of_layers(graph, chosen);
  if (buffers.empty())
    throw Error(Errc::invalid_argument,
                subject_of(graph) + ": expected the statistics of a norm, " + "got " +
                    quoted_text(pattern) + ", which matches constants alone");
  impl.network.freeze(buffers, frozen);
}

}  // namespace

void Model::freeze(const std::string& pattern) {
  impl_->calling("Model::freeze", [&](Impl& impl) { freeze_parameters(impl, pattern, true); });
}

void Model::unfreeze(const std::string& pattern) {
  impl_->calling("Model::unfreeze", [&](Impl& impl) { freeze_parameters(impl, pattern, false); });
}

void Model::freeze_statistics(const std::string& pattern) {
  impl_->calling("Model::freeze_statistics",
                 [&](Impl& impl) { freeze_buffers(impl, pattern, true); });
}

void Model::unfreeze_statistics(const std::string& pattern) {
  impl_->calling("Model::unfreeze_statistics",
                 [&](Impl& impl) { freeze_buffers(impl, pattern, false); });
}

std::vector<ParameterInfo> Model::parameters() const {
  return impl_->calling("Model::parameters", [](Impl& impl) {
    std::vector<ParameterInfo> parameters = impl.weights.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].frozen = impl.network.graph().variables[i].frozen;
      parameters[i].trainable = !parameters[i].buffer && !parameters[i].frozen;
    }
    return parameters;
  });
}

}  // namespace penstock
