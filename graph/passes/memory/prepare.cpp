#include "graph/passes/memory/prepare.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/ir/append.hpp"
#include "graph/ir/op.hpp"
#include "graph/plan/placement.hpp"

namespace penstock::graph {
namespace {

/// The results of a node that is moved have at most this many times the bytes of its inputs.
constexpr std::int64_t most_growth = 2;

class Preparation {
 public:
  Preparation(Graph graph, Partition partition, const OffloadOptions& offload)
      : result_{std::move(graph), std::move(partition)},
        is_constant_(result_.graph.values.size()),
        is_wanted_(result_.graph.values.size()) {
    find_constants(offload);
    find_wanted();
  }

  Prepared run() {
    for (StageGraph& stage : result_.partition.stages) {
      move_nodes(stage);
      pack_weights(stage);
    }
    return std::move(result_);
  }

 private:
  void find_constants(const OffloadOptions& offload) {
    const Graph& graph = result_.graph;
    for (const Variable& variable : graph.variables)
      is_constant_[index(variable.value)] =
          !is_in_weight_room(graph.value(variable.value), offload);
    for (const Node& node : graph.nodes)
      for (const Update& update : node.op->updates)
        is_constant_[index(node.inputs[index(update.input)])] = false;
  }

  void find_wanted() {
    for (const StageEdge& edge : result_.partition.edges)
      if (edge.value != none) is_wanted_[index(edge.value)] = true;
    for (const Output& output : result_.graph.outputs) is_wanted_[index(output.value)] = true;
  }

  std::int64_t bytes_of(const std::vector<ValueId>& values) const {
    std::int64_t bytes = 0;
    for (const ValueId value : values) bytes += result_.graph.type(value).bytes();
    return bytes;
  }

  bool is_moved(const Node& node) const {
    const Op& op = *node.op;
    if (!op.updates.empty() || op.keeps_state || op.runs_code_of_host) return false;
    const auto is_constant = [&](ValueId value) { return is_constant_[index(value)]; };
    const auto is_wanted = [&](ValueId value) { return is_wanted_[index(value)]; };
    return std::ranges::all_of(node.inputs, is_constant) &&
           std::ranges::none_of(node.outputs, is_wanted) &&
           bytes_of(node.outputs) <= most_growth * bytes_of(node.inputs);
  }

  void move_nodes(StageGraph& stage) {
    std::vector<NodeId> forward;
    for (const NodeId id : stage.forward) {
      const Node& node = result_.graph.node(id);
      const bool moved = is_moved(node);
      (moved ? stage.prepare : forward).push_back(id);
      if (!moved) continue;
      for (const ValueId output : node.outputs) is_constant_[index(output)] = true;
    }
    stage.forward = std::move(forward);
  }

  void pack_weights(StageGraph& stage) {
    for (const NodeId id : stage.forward) {
      const auto packed_form = result_.graph.node(id).op->packed_form;
      if (!packed_form || !is_constant_[index(result_.graph.node(id).inputs[1])]) continue;
      const Node& node = result_.graph.node(id);
      std::optional<PackedForm> form =
          packed_form(node.attributes, types_of(result_.graph, node.inputs));
      if (!form) continue;
      const ValueId packed = packed_weights(stage, id, *form);
      Node& reader = result_.graph.node(id);
      reader.inputs[1] = packed;
      reader.op = form->op;
      reader.attributes = std::move(form->attributes);
    }
  }

  /// Returns the weights of node `reader` as the pack node of `form` makes them.
  ValueId packed_weights(StageGraph& stage, NodeId reader, const PackedForm& form) {
    Graph& graph = result_.graph;
    const ValueId weights = graph.node(reader).inputs[1];
    for (const NodeId id : stage.prepare) {
      const Node& node = graph.node(id);
      if (node.op == form.pack && node.inputs[0] == weights &&
          node.attributes == form.pack_attributes)
        return node.outputs[0];
    }
    const NodeId id = append_unnamed(graph, *form.pack, {weights}, form.pack_attributes,
                                     graph.node(reader).name + "/packed");
    graph.node(id).block = graph.node(reader).block;
    stage.prepare.push_back(id);
    return graph.node(id).outputs[0];
  }

  Prepared result_;
  // This says, for each ValueId of the original graph, whether the value stays the same while the
  // variables do.
  std::vector<bool> is_constant_;
  // This says, for each ValueId of the original graph, whether another stage or the host gets the
  // value.
  std::vector<bool> is_wanted_;
};

}  // namespace

Prepared prepare(Graph graph, Partition partition, const OffloadOptions& offload) {
  return Preparation(std::move(graph), std::move(partition), offload).run();
}

}  // namespace penstock::graph
