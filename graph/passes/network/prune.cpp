#include "graph/passes/network/prune.hpp"

#include <algorithm>

#include "graph/ir/op.hpp"

namespace penstock::graph {
namespace {

using Marks = std::vector<bool>;

bool adds_to_a_sum(const Graph& graph, const Node& node) {
  return std::ranges::any_of(node.op->updates, [&](const Update& update) {
    return graph.value(node.inputs[index(update.input)]).kind == ValueKind::accumulator;
  });
}

struct Needed {
  Marks values;
  Marks nodes;
};

Needed find_needed(const Graph& graph, const std::vector<ValueId>& wanted) {
  Needed needed{Marks(graph.values.size()), Marks(graph.nodes.size())};
  for (const ValueId value : wanted) needed.values[index(value)] = true;
  for (std::size_t id = graph.nodes.size(); id-- > 0;) {
    const Node& node = graph.nodes[id];
    const bool used = std::ranges::any_of(
        node.outputs, [&](ValueId output) { return needed.values[index(output)]; });
    if (!used && !adds_to_a_sum(graph, node)) continue;
    needed.nodes[id] = true;
    for (const ValueId input : node.inputs) needed.values[index(input)] = true;
  }
  return needed;
}

/// Returns the new number of each node, or `none` for a node that is not in `kept`.
std::vector<NodeId> renumbered(const Marks& kept) {
  std::vector<NodeId> numbers;
  NodeId next = 0;
  for (const bool keep : kept) numbers.push_back(keep ? next++ : none);
  return numbers;
}

void renumber(NodeId& node, const std::vector<NodeId>& numbers) {
  if (node != none) node = numbers[index(node)];
}

}  // namespace

Graph prune(const Graph& graph, const std::vector<ValueId>& wanted) {
  const Needed needed = find_needed(graph, wanted);
  const auto numbers = renumbered(needed.nodes);
  Graph result = graph;
  result.nodes.clear();
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    if (needed.nodes[id]) result.nodes.push_back(graph.nodes[id]);
  for (Node& node : result.nodes) renumber(node.forward_of, numbers);
  for (Value& value : result.values) renumber(value.producer, numbers);
  for (ParameterGradient& gradient : result.parameter_gradients) renumber(gradient.use, numbers);
  std::erase_if(result.inputs, [&](ValueId input) { return !needed.values[index(input)]; });
  std::erase_if(result.variables,
                [&](const Variable& variable) { return !needed.values[index(variable.value)]; });
  return result;
}

}  // namespace penstock::graph
