#include "graph/graph.hpp"

#include <algorithm>

#include "graph/op.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> types_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<TensorType> types;
  types.reserve(values.size());
  for (const ValueId value : values) types.push_back(graph.type(value));
  return types;
}

std::vector<TensorType> infer(const Graph& graph, const Op& op, const std::string& name,
                              const std::vector<ValueId>& inputs, const Attributes& attributes) {
  try {
    return op.infer(attributes, types_of(graph, inputs));
  } catch (const Error& error) {
    throw Error(error.code(), std::string(op.name) + " \"" + name + "\": " + error.what());
  }
}

bool is_used(const Graph& graph, const std::string& name) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return node.name == name; });
}

void refuse_used_name(const Graph& graph, const std::string& name) {
  if (is_used(graph, name))
    throw Error(Errc::invalid_model,
                "model \"" + graph.name + "\": the name \"" + name + "\" is used twice");
}

std::string numbered(const Graph& graph, const Op& op) {
  auto number = std::count_if(graph.nodes.begin(), graph.nodes.end(),
                              [&](const Node& node) { return node.op == &op; });
  std::string name;
  do {
    name = std::string(op.name) + "_" + std::to_string(++number);
  } while (is_used(graph, name));
  return name;
}

}  // namespace

std::string to_string(const TensorType& type) {
  return std::string(to_string(type.dtype)) + to_string(type.shape);
}

std::string to_string(const Node& node) {
  return std::string(node.op->name) + " \"" + node.name + "\"";
}

NodeId append(Graph& graph, const Op& op, std::vector<ValueId> inputs, Attributes attributes,
              std::string name) {
  if (name.empty()) name = numbered(graph, op);
  refuse_used_name(graph, name);
  const auto types = infer(graph, op, name, inputs, attributes);
  const auto id = static_cast<NodeId>(graph.nodes.size());
  Node node{.name = std::move(name),
            .op = &op,
            .attributes = std::move(attributes),
            .inputs = std::move(inputs)};
  for (std::size_t i = 0; i < types.size(); ++i) {
    node.outputs.push_back(static_cast<ValueId>(graph.values.size()));
    std::string value_name = i == 0 ? node.name : node.name + ":" + std::to_string(i);
    graph.values.push_back({.name = std::move(value_name), .type = types[i], .producer = id});
  }
  graph.nodes.push_back(std::move(node));
  return id;
}

Graph with_batch(const Graph& graph, std::int64_t batch) {
  Graph result = graph;
  for (const ValueId input : result.inputs) {
    TensorType& type = result.value(input).type;
    type.shape = type.shape.with(0, batch);
  }
  for (const Node& node : result.nodes) {
    const auto types = infer(result, *node.op, node.name, node.inputs, node.attributes);
    for (std::size_t i = 0; i < types.size(); ++i) result.value(node.outputs[i]).type = types[i];
  }
  return result;
}

}  // namespace penstock::graph
