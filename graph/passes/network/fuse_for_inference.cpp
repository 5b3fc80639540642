#include "graph/passes/network/fuse_for_inference.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "graph/ops/convolution/conv2d_inference.hpp"

namespace penstock::graph {
namespace {

/// Returns how many times nodes and the host read each value of `graph`.
std::vector<int> count_readers(const Graph& graph) {
  std::vector<int> readers(graph.values.size());
  for (const Node& node : graph.nodes)
    for (const ValueId input : node.inputs) ++readers[index(input)];
  for (const Output& output : graph.outputs) ++readers[index(output.value)];
  return readers;
}

/// Makes `reader` compute what it and one of its producers compute, if there is such a node.
void join_producer(Graph& graph, Node& reader, const std::vector<int>& readers) {
  for (std::size_t position = 0; position < reader.inputs.size(); ++position) {
    const ValueId input = reader.inputs[position];
    const NodeId producer = graph.value(input).producer;
    if (producer == none || readers[index(input)] != 1) continue;
    Node& node = graph.node(producer);
    if (node.block != reader.block) continue;
    std::optional<Node> both = joined(graph, node, reader, position);
    if (!both) continue;
    std::swap(node.name, reader.name);  // Names stay unique.
    reader = std::move(*both);
    return;
  }
}

}  // namespace

Graph fuse_for_inference(Graph graph) {
  const std::vector<int> readers = count_readers(graph);
  for (Node& reader : graph.nodes) join_producer(graph, reader, readers);
  return graph;
}

}  // namespace penstock::graph
