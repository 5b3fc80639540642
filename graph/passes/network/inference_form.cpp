#include "graph/passes/network/inference_form.hpp"

#include <optional>
#include <string>
#include <utility>

#include "graph/ir/op.hpp"
#include "graph/values/printable.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

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

}  // namespace

Graph inference_form(const Graph& model) {
  Graph graph = model;
  for (Node& node : graph.nodes) {
    refuse_lost_inputs(graph, node);
    if (node.op->inference) replace(graph, node);
    if (!node.op->updates.empty())
      throw Error(Errc::unsupported,
                  to_string(node) + ": it would change its buffers in inference");
  }
  return graph;
}

}  // namespace penstock::graph
