#include "graph/passes/fuse.hpp"

#include <vector>

#include "graph/op.hpp"
#include "graph/ops/activations/relu.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/lanes/conv2d_lanes.hpp"
#include "graph/ops/lanes/conv2d_pool_relu_lanes.hpp"
#include "graph/ops/lanes/max_pool2d_lanes.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {
namespace {

/// By their attribute "relu".
bool can_end_in_relu(const Op& op) {
  return &op == &conv2d_lanes || &op == &conv2d || &op == &linear;
}

class Fusion {
 public:
  explicit Fusion(const Graph& graph) : graph_(graph), readers_(graph.values.size()) {
    for (std::size_t id = 0; id < graph.nodes.size(); ++id)
      for (const ValueId input : graph.nodes[id].inputs)
        readers_[index(input)].push_back(static_cast<NodeId>(id));
    for (const Output& output : graph.outputs) readers_[index(output.value)].push_back(none);
    if (graph.loss != none) readers_[index(graph.loss)].push_back(none);
    dropped_.resize(graph.nodes.size());
  }

  Graph run() {
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id)
      if (can_end_in_relu(*graph_.nodes[id].op)) try_to_fuse(static_cast<NodeId>(id));
    remove_dropped();
    return std::move(graph_);
  }

 private:
  /// The one node that reads the node's first output, if it is in the same block; else none.
  NodeId only_reader(NodeId id) const {
    const Node& node = graph_.node(id);
    const auto& readers = readers_[index(node.outputs[0])];
    if (readers.size() != 1 || readers[0] == none) return none;
    return graph_.node(readers[0]).block == node.block ? readers[0] : none;
  }

  static bool halves(const Node& node) {
    const Window2d window =
        node.op == &max_pool2d_lanes ? pool_window(node.attributes) : Window2d{};
    return window.kernel == Pair{2, 2} && window.stride == Pair{2, 2} &&
           window.padding == Pair{0, 0};
  }

  void try_to_fuse(NodeId first) {
    const NodeId second = only_reader(first);
    if (second == none || fuse_pool_and_relu(first, second, only_reader(second))) return;
    if (graph_.node(second).op != &relu) return;
    Node& node = graph_.node(first);
    move_checkpoint(node, graph_.node(second));
    node.attributes.set("relu", std::int64_t{1});
    node.outputs = graph_.node(second).outputs;
    dropped_[index(second)] = true;
  }

  bool fuse_pool_and_relu(NodeId convolution, NodeId second, NodeId third) {
    if (graph_.node(convolution).op != &conv2d_lanes || third == none) return false;
    const Node &a = graph_.node(second), &b = graph_.node(third);
    const bool pool_first = halves(a) && b.op == &relu, relu_first = a.op == &relu && halves(b);
    if (!pool_first && !relu_first) return false;
    const ValueId winners = (pool_first ? a : b).outputs[1];
    Node& node = graph_.node(convolution);
    move_checkpoint(node, a);
    move_checkpoint(a, b);
    node.op = &conv2d_pool_relu_lanes;
    node.outputs = {b.outputs[0], winners};
    dropped_[index(second)] = dropped_[index(third)] = true;
    return true;
  }

  /// What is not computed any more cannot be kept: its reader's result is, in its place.
  void move_checkpoint(const Node& from, const Node& reader) {
    if (graph_.value(from.outputs[0]).checkpoint) graph_.value(reader.outputs[0]).checkpoint = true;
  }

  void remove_dropped() {
    for (Value& value : graph_.values) value.producer = none;
    std::vector<Node> nodes;
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      if (dropped_[id]) continue;
      for (const ValueId output : graph_.nodes[id].outputs)
        graph_.value(output).producer = static_cast<NodeId>(nodes.size());
      nodes.push_back(std::move(graph_.nodes[id]));
    }
    graph_.nodes = std::move(nodes);
  }

  Graph graph_;
  std::vector<std::vector<NodeId>> readers_;  // by value; none: the host
  std::vector<bool> dropped_;                 // by node
};

}  // namespace

Graph fuse(const Graph& graph) {
  return Fusion(graph).run();
}

}  // namespace penstock::graph
