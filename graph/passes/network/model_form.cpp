#include "graph/passes/network/model_form.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "graph/ir/op.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Returns the losses on which no later loss depends.
std::vector<NodeId> last_losses(const Graph& graph) {
  std::vector<bool> leads_to_loss(graph.values.size());
  std::vector<NodeId> last;
  for (auto id = static_cast<NodeId>(graph.nodes.size()); id-- > 0;) {
    const Node& node = graph.node(id);
    const bool feeds =
        std::ranges::any_of(node.outputs, [&](ValueId v) { return leads_to_loss[index(v)]; });
    if (node.op->is_loss && !feeds) last.insert(last.begin(), id);
    if (node.op->is_loss || feeds)
      for (const ValueId input : node.inputs) leads_to_loss[index(input)] = true;
  }
  return last;
}

std::string enumeration(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::string text;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    text += (i == 0                  ? ""
             : i + 1 == nodes.size() ? " and "
                                     : ", ") +
            to_string(graph.node(nodes[i]));
  return text;
}

std::optional<std::vector<TensorType>> accepted(const Op& op, const Attributes& attributes,
                                                Types inputs) {
  try {
    return op.infer(attributes, inputs);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void replace(Graph& graph, Node& node) {
  const Op& op = node.op->inference();
  Attributes attributes = only_declared(op.attributes, node.attributes);
  std::vector<TensorType> types;
  for (const ValueId input : node.inputs) types.push_back(graph.type(input));
  for (; !types.empty(); types.pop_back()) {
    const auto outputs = accepted(op, attributes, types);
    if (!outputs || outputs->size() > node.outputs.size()) continue;
    node.inputs.resize(types.size());
    for (std::size_t i = outputs->size(); i < node.outputs.size(); ++i)
      graph.value(node.outputs[i]).producer = none;
    node.outputs.resize(outputs->size());
    node.op = &op;
    node.attributes = std::move(attributes);
    return;
  }
  throw Error(Errc::internal, to_string(node) + ": its inference form, " + std::string(op.name) +
                                  ", does not take its inputs");
}

void refuse_lost_inputs(const Graph& graph, const Node& node) {
  for (const ValueId input : node.inputs)
    if (graph.value(input).kind == ValueKind::computed && graph.value(input).producer == none)
      throw Error(Errc::unsupported, to_string(node) + ": its input " +
                                         quoted_text(graph.value(input).name) +
                                         " is computed in training only");
}

/// Returns a list that says of each ValueId whether the value is a frozen buffer.
std::vector<bool> frozen_buffers(const Graph& graph) {
  std::vector<bool> frozen(graph.values.size());
  for (const Variable& variable : graph.variables)
    frozen[index(variable.value)] =
        variable.frozen && graph.value(variable.value).kind == ValueKind::buffer;
  return frozen;
}

}  // namespace

ValueId final_loss(const Graph& graph) {
  if (graph.loss != none) return graph.loss;
  const auto refuse = [&](const std::string& text) {
    throw Error(Errc::invalid_model, "model " + quoted_text(graph.name) + ": " + text);
  };
  const std::vector<NodeId> losses = last_losses(graph);
  if (losses.empty())
    refuse(
        "has no loss, and training needs one: end in a loss such as cross_entropy, or wrap what "
        "should be minimised in identity_loss");
  if (losses.size() > 1)
    refuse("has several independent losses, " + enumeration(graph, losses) +
           ", and training minimises one: add them up and wrap the sum in identity_loss, or train "
           "each by an Objective of its own");
  const ValueId loss = graph.node(losses[0]).outputs[0];
  for (const Node& node : graph.nodes)
    if (std::ranges::count(node.inputs, loss) > 0)
      refuse("the loss " + to_string(graph.node(losses[0])) + " is an input of " + to_string(node) +
             ", which is no loss: wrap what should be minimised in " +
             "identity_loss, or say with loss() what it is");
  return loss;
}

Graph training_form(const Graph& model) {
  Graph graph = model;
  graph.loss = final_loss(model);
  const std::vector<bool> frozen = frozen_buffers(model);
  for (Node& node : graph.nodes) {
    refuse_lost_inputs(graph, node);
    const auto updates_frozen = [&](const Update& update) {
      return frozen[index(node.inputs[index(update.input)])];
    };
    if (node.op->inference && std::ranges::any_of(node.op->updates, updates_frozen))
      replace(graph, node);
  }
  return graph;
}

Graph inference_form(const Graph& model) {
  Graph graph = model;
  for (Node& node : graph.nodes) {
    refuse_lost_inputs(graph, node);
    if (node.op->inference) replace(graph, node);
    if (!node.op->updates.empty() && !node.op->keeps_state)
      throw Error(Errc::unsupported,
                  to_string(node) + ": it would change its buffers in inference");
  }
  return graph;
}

}  // namespace penstock::graph
