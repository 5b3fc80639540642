#include "graph/passes/network/fuse.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/ir/op.hpp"

namespace penstock::graph {
namespace {

class Fusion {
 public:
  explicit Fusion(const Graph& graph) : graph_(graph), readers_(graph.values.size()) {
    for (std::size_t id = 0; id < graph.nodes.size(); ++id)
      for (const ValueId input : graph.nodes[id].inputs)
        readers_[index(input)].push_back(static_cast<NodeId>(id));
    for (const Output& output : graph.outputs)
      if (output.anchor == none) readers_[index(output.value)].push_back(none);
    for (const GradientAnchor& gradient : graph.gradients) anchored_.insert(gradient.value);
    if (graph.loss != none) readers_[index(graph.loss)].push_back(none);
    for (const Output& output : graph.outputs)
      if (output.anchor != none) leave_to_anchors(output.value);
    dropped_.resize(graph.nodes.size());
  }

  Graph run() {
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id)
      if (graph_.nodes[id].op->relu_flag) try_to_fuse(static_cast<NodeId>(id));
    remove_dropped();
    return std::move(graph_);
  }

 private:
  /// Notes that an anchor asks for `value`. An anchor does not count as a reader of the value. If
  /// `value` is converted from the batch-lane layout for anchors alone, the conversion does not
  /// count as a reader either.
  void leave_to_anchors(ValueId value) {
    anchored_.insert(value);
    const NodeId producer = graph_.value(value).producer;
    if (!graph_.node(producer).op->leaves_lanes || !readers_[index(value)].empty()) return;
    const ValueId lanes = graph_.node(producer).inputs[0];
    std::erase(readers_[index(lanes)], producer);
    anchored_.insert(lanes);
  }

  /// Returns the node that is the only reader of the first output of node `id`, if it is in the
  /// same block, and otherwise `none`.
  NodeId only_reader(NodeId id) const {
    const Node& node = graph_.node(id);
    const auto& readers = readers_[index(node.outputs[0])];
    if (readers.size() != 1 || readers[0] == none) return none;
    return graph_.node(readers[0]).block == node.block ? readers[0] : none;
  }

  static bool halves(const Node& node) {
    return node.op->halves_image && node.op->halves_image(node.attributes);
  }

  void try_to_fuse(NodeId first) {
    const NodeId second = only_reader(first);
    if (second == none || fuse_pool_and_relu(first, second, only_reader(second))) return;
    if (!graph_.node(second).op->is_relu) return;
    Node& node = graph_.node(first);
    const std::vector<Node> members{node, graph_.node(second)};
    move_checkpoint(node, graph_.node(second));
    node.attributes.set(std::string(node.op->relu_flag->name), std::int64_t{1});
    node.outputs = graph_.node(second).outputs;
    dropped_[index(second)] = true;
    keep_apart(first, members);
  }

  bool fuse_pool_and_relu(NodeId convolution, NodeId second, NodeId third) {
    const auto pooled_relu_form = graph_.node(convolution).op->pooled_relu_form;
    if (!pooled_relu_form || third == none) return false;
    const Node &a = graph_.node(second), &b = graph_.node(third);
    const bool pool_first = halves(a) && b.op->is_relu, relu_first = a.op->is_relu && halves(b);
    if (!pool_first && !relu_first) return false;
    const ValueId winners = (pool_first ? a : b).outputs[1];
    Node& node = graph_.node(convolution);
    const std::vector<Node> members{node, a, b};
    move_checkpoint(node, a);
    move_checkpoint(a, b);
    node.op = &pooled_relu_form();
    node.outputs = {b.outputs[0], winners};
    dropped_[index(second)] = dropped_[index(third)] = true;
    keep_apart(convolution, members);
    return true;
  }

  /// If an anchor asks for a value between the nodes `members`, which were fused into `fused`, puts
  /// copies of these nodes beside the fused node. Anchors do not prevent fusion, because fusion
  /// changes bits and anchors must not.
  void keep_apart(NodeId fused, std::vector<Node> members) {
    const auto is_anchored = [&](const Node& member) {
      return anchored_.contains(member.outputs[0]);
    };
    if (std::none_of(members.begin(), members.end() - 1, is_anchored)) return;
    const std::vector<ValueId> results = graph_.node(fused).outputs;
    for (Node& member : members) {
      member.name += "/apart";
      member.apart = true;
      for (ValueId& output : member.outputs)
        if (std::ranges::count(results, output) > 0) output = twin_of(output);
    }
    graph_.twins.push_back({members.back().outputs[0], results[0]});
    apart_[fused] = std::move(members);
  }

  ValueId twin_of(ValueId value) {
    Value twin = graph_.value(value);
    twin.name += "/apart";
    twin.checkpoint = false;
    graph_.values.push_back(std::move(twin));
    return static_cast<ValueId>(graph_.values.size()) - 1;
  }

  /// If the output of `from`, which `reader` reads, is a checkpoint, makes the result of `reader` a
  /// checkpoint in its place. After the fusion, the output of `from` is not computed, so that it
  /// cannot be kept.
  void move_checkpoint(const Node& from, const Node& reader) {
    if (graph_.value(from.outputs[0]).checkpoint) graph_.value(reader.outputs[0]).checkpoint = true;
  }

  void remove_dropped() {
    for (Value& value : graph_.values) value.producer = none;
    std::vector<Node> nodes;
    const auto keep = [&](Node& node) {
      for (const ValueId output : node.outputs)
        graph_.value(output).producer = static_cast<NodeId>(nodes.size());
      nodes.push_back(std::move(node));
    };
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      if (dropped_[id]) continue;
      keep(graph_.nodes[id]);
      for (Node& member : apart_[static_cast<NodeId>(id)]) keep(member);
    }
    graph_.nodes = std::move(nodes);
  }

  Graph graph_;
  // These are the nodes that read each value; `none` stands for the host.
  std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> dropped_;   // This says for each node whether it was fused into another node.
  std::set<ValueId> anchored_;  // Anchors ask for these values or for their gradients.
  // These are the nodes that repeat the parts of a fused node, by its NodeId.
  std::map<NodeId, std::vector<Node>> apart_;
};

}  // namespace

Graph fuse(const Graph& graph) {
  return Fusion(graph).run();
}

}  // namespace penstock::graph
