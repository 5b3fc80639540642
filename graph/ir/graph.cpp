#include "graph/ir/graph.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "graph/ir/append.hpp"
#include "graph/ir/op.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Graph& graph, const Op& op, const std::string& name,
                              const std::vector<ValueId>& inputs, const Attributes& attributes) {
  try {
    check_declared(op.attributes, attributes);
    return op.infer(attributes, types_of(graph, inputs));
  } catch (const Error& error) {
    throw Error(error.code(), std::string(op.name) + " " + quoted_text(name) + ": " + error.what());
  }
}

bool is_used(const Graph& graph, const std::string& name) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return node.name == name; });
}

[[noreturn]] void refuse_used_name(const Graph& graph, const std::string& name) {
  throw Error(Errc::invalid_model, "model " + quoted_text(graph.name) + ": the name " +
                                       quoted_text(name) + " is used twice");
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

/// Returns the name of output number `output` of the node called `node`.
std::string output_name(const std::string& node, std::size_t output) {
  return output == 0 ? node : node + ":" + std::to_string(output);
}

void resize(TensorType& type, int axis, std::int64_t size) {
  type.shape = type.shape.with(axis, size);
}

/// Infers the types of all computed values, after those of inputs have changed.
void infer_again(Graph& graph) {
  for (const Node& node : graph.nodes) {
    const auto types = infer(graph, *node.op, node.name, node.inputs, node.attributes);
    for (std::size_t i = 0; i < types.size(); ++i) graph.value(node.outputs[i]).type = types[i];
  }
}

}  // namespace

std::vector<TensorType> types_of(const Graph& graph, std::span<const ValueId> values) {
  std::vector<TensorType> types;
  types.reserve(values.size());
  for (const ValueId value : values) types.push_back(graph.type(value));
  return types;
}

std::string to_string(const TensorType& type) {
  return std::string(to_string(type.dtype)) + to_string(type.shape);
}

std::string to_string(const Node& node) {
  return std::string(node.op->name) + " " + quoted_text(node.name);
}

NodeId append(Graph& graph, const Op& op, std::vector<ValueId> inputs, Attributes attributes,
              std::string name) {
  if (name.empty()) name = numbered(graph, op);
  if (is_used(graph, name)) refuse_used_name(graph, name);
  return append_unnamed(graph, op, std::move(inputs), std::move(attributes), std::move(name));
}

NodeId append_named(Graph& graph, NodeNames& names, const Op& op, std::vector<ValueId> inputs,
                    Attributes attributes, const std::string& name) {
  if (!names.insert(name).second) refuse_used_name(graph, name);
  return append_unnamed(graph, op, std::move(inputs), std::move(attributes), name);
}

NodeId append_unnamed(Graph& graph, const Op& op, std::vector<ValueId> inputs,
                      Attributes attributes, std::string name) {
  const auto types = infer(graph, op, name, inputs, attributes);
  const auto id = static_cast<NodeId>(graph.nodes.size());
  Node node{.name = std::move(name),
            .op = &op,
            .attributes = std::move(attributes),
            .inputs = std::move(inputs)};
  for (std::size_t i = 0; i < types.size(); ++i) {
    node.outputs.push_back(static_cast<ValueId>(graph.values.size()));
    graph.values.push_back({.name = output_name(node.name, i), .type = types[i], .producer = id});
  }
  graph.nodes.push_back(std::move(node));
  return id;
}

void give_unused_names(Graph& graph, NodeId first) {
  NodeNames names;
  // This map has, for each name, the number to try next. No name becomes free again in this loop,
  // so lower numbers need not be tried once more.
  std::unordered_map<std::string, int> next;
  for (NodeId id = 0; std::cmp_less(id, graph.nodes.size()); ++id) {
    Node& node = graph.node(id);
    const std::string wanted = node.name;
    if (names.insert(wanted).second || id < first) continue;
    int& copy = next.try_emplace(wanted, 2).first->second;
    do {
      node.name = wanted + "_" + std::to_string(copy++);
    } while (!names.insert(node.name).second);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      graph.value(node.outputs[i]).name = output_name(node.name, i);
  }
}

Graph with_batch(const Graph& graph, std::int64_t batch) {
  Graph result = graph;
  for (const ValueId input : result.inputs) resize(result.value(input).type, 0, batch);
  infer_again(result);
  return result;
}

Graph with_length(const Graph& graph, std::int64_t length) {
  Graph result = graph;
  for (const DynamicAxis& dynamic : result.dynamic_axes)
    resize(result.value(dynamic.input).type, dynamic.axis, length);
  infer_again(result);
  for (const Node& node : result.nodes)
    if (node.fixed_size && result.type(node.inputs[0]) != graph.type(node.inputs[0]))
      throw Error(Errc::shape_mismatch, to_string(node) + ": expected " +
                                            to_string(graph.type(node.inputs[0])) +
                                            ", the size for which the layer was added, got " +
                                            to_string(result.type(node.inputs[0])));
  return result;
}

}  // namespace penstock::graph
