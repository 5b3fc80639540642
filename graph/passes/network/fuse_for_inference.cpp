#include "graph/passes/network/fuse_for_inference.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
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

/// Returns the positions of the inputs of `node`. Those that are computed last come first: the
/// inputs of what computes them are then kept no longer than they have to be.
std::vector<std::size_t> last_computed_first(const Graph& graph, const Node& node) {
  std::vector<std::size_t> positions(node.inputs.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  std::ranges::stable_sort(positions, std::ranges::greater(), [&](std::size_t position) {
    return graph.value(node.inputs[position]).producer;
  });
  return positions;
}

/// Makes `reader` compute what it and one of its producers compute, if there is such a node.
void join_producer(Graph& graph, Node& reader, const std::vector<int>& readers) {
  for (const std::size_t position : last_computed_first(graph, reader)) {
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
