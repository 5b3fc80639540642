#include <string>
#include <utility>

#include "graph/ir/append.hpp"
#include "graph/ir/op.hpp"

namespace penstock::graph {

GradientContext::GradientContext(Graph& graph, NodeId node, std::vector<ValueId> output_gradients,
                                 std::vector<bool> needed)
    : graph_(graph),
      node_(node),
      attributes_(graph.node(node).attributes),
      output_gradients_(std::move(output_gradients)),
      needed_(std::move(needed)),
      input_gradients_(graph.node(node).inputs.size(), none) {}

std::vector<ValueId> GradientContext::emit_all(const Op& op, std::vector<ValueId> inputs,
                                               Attributes attributes) {
  // Another node may already have the name: an op such as matmul may emit two nodes of the same
  // kind, and a layer may have such a name. At its end, differentiate() gives each emitted node a
  // name of its own.
  const NodeId id = append_unnamed(graph_, op, std::move(inputs), std::move(attributes),
                                   graph_.node(node_).name + "/" + std::string(op.name));
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
