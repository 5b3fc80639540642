#include "graph/passes/network/fuse_exactly.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "graph/ops/convolution/conv2d_inference.hpp"
#include "graph/ops/norms/batch_norm.hpp"

namespace penstock::graph {
namespace {

/// Returns how many times nodes and the host read each value of `graph`.
std::vector<int> count_readers(const Graph& graph) {
  std::vector<int> readers(graph.values.size());
  for (const Node& node : graph.nodes)
    for (const ValueId input : node.inputs) ++readers[index(input)];
  for (const Output& output : graph.outputs) ++readers[index(output.value)];
  for (const GradientAnchor& gradient : graph.gradients) ++readers[index(gradient.value)];
  if (graph.loss != none) ++readers[index(graph.loss)];
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

/// Returns whether a node between `first` and `last` reads an input of `first`.
bool is_read_between(const Graph& graph, NodeId first, NodeId last) {
  const auto is_input = [&](ValueId value) {
    return std::ranges::count(graph.node(first).inputs, value) > 0;
  };
  return std::any_of(
      graph.nodes.begin() + first + 1, graph.nodes.begin() + last,
      [&](const Node& between) { return std::ranges::any_of(between.inputs, is_input); });
}

class ExactFusion {
 public:
  /// A Join returns the node that computes at once what `node` computes and what `reader` makes of
  /// it, or nothing if there is no such node. Input `position` of `reader` is the output 0 of
  /// `node`.
  using Join = std::optional<Node> (*)(const Graph&, const Node& node, const Node& reader,
                                       std::size_t position);

  ExactFusion(Graph graph, Join join, bool keeps_order)
      : graph_(std::move(graph)),
        readers_(count_readers(graph_)),
        join_(join),
        keeps_order_(keeps_order) {}

  Graph run() {
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) join_producer(static_cast<NodeId>(id));
    remove_joined();
    return std::move(graph_);
  }

 private:
  /// Makes node `id` compute what it and one of its producers compute, if there is such a node.
  void join_producer(NodeId id) {
    Node& reader = graph_.node(id);
    for (const std::size_t position : last_computed_first(graph_, reader)) {
      const ValueId input = reader.inputs[position];
      const NodeId producer = graph_.value(input).producer;
      if (producer == none || readers_[index(input)] != 1) continue;
      Node& node = graph_.node(producer);
      if (node.block != reader.block || node.outputs[0] != input) continue;
      if (keeps_order_ && is_read_between(graph_, producer, id)) continue;
      std::optional<Node> both = join_(graph_, node, reader, position);
      if (!both) continue;
      graph_.value(input).producer = none;
      if (graph_.value(input).checkpoint) graph_.value(reader.outputs[0]).checkpoint = true;
      reader = std::move(*both);
      for (const ValueId output : reader.outputs) graph_.value(output).producer = id;
      node.outputs.clear();
      node.inputs.clear();
      return;
    }
  }

  /// Removes the nodes that are parts of others, which have no outputs any more.
  void remove_joined() {
    std::erase_if(graph_.nodes, [](const Node& node) { return node.outputs.empty(); });
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id)
      for (const ValueId output : graph_.nodes[id].outputs)
        graph_.value(output).producer = static_cast<NodeId>(id);
  }

  Graph graph_;
  std::vector<int> readers_;
  Join join_;
  bool keeps_order_;
};

}  // namespace

Graph fuse_for_inference(Graph graph) {
  return ExactFusion(std::move(graph), joined_convolution, false).run();
}

Graph fuse_for_training(Graph graph) {
  return ExactFusion(std::move(graph), joined_norm, true).run();
}

}  // namespace penstock::graph
