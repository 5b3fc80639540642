#include <algorithm>
#include <string>

#include "graph/op.hpp"

namespace penstock::graph {

GradientContext::GradientContext(Graph& graph, NodeId node, std::vector<ValueId> output_gradients,
                                 std::vector<bool> needed)
    : graph_(graph),
      node_(node),
      output_gradients_(std::move(output_gradients)),
      needed_(std::move(needed)),
      input_gradients_(graph.node(node).inputs.size(), none) {}

std::vector<ValueId> GradientContext::emit_all(const Op& op, std::vector<ValueId> inputs,
                                               Attributes attributes) {
  const std::string base = graph_.node(node_).name + "/" + std::string(op.name);
  std::string name = base;
  // An op may emit the same kind of node twice (matmul), and a layer may have such a name already.
  for (int copy = 2; std::ranges::count(graph_.nodes, name, &Node::name) > 0; ++copy)
    name = base + "_" + std::to_string(copy);
  const NodeId id = append(graph_, op, std::move(inputs), std::move(attributes), std::move(name));
  Node& emitted = graph_.node(id);
  emitted.backward = true;
  emitted.forward_of = node_;
  emitted.block = graph_.node(node_).block;
  return emitted.outputs;
}

ValueId GradientContext::emit(const Op& op, std::vector<ValueId> inputs, Attributes attributes,
                              std::size_t output) {
  return emit_all(op, std::move(inputs), std::move(attributes))[output];
}

}  // namespace penstock::graph
