#include "graph/passes/memory/recompute.hpp"

#include <string>
#include <utility>

#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// A Recomputation rewrites one stage after the other. It appends new nodes and values to those of
/// the graph.
class Recomputation {
 public:
  Recomputation(Graph graph, Partition partition)
      : result_{std::move(graph), std::move(partition)} {
    again_.assign(result_.graph.values.size(), none);
    kept_.resize(result_.graph.values.size());
    mark_kept();
  }

  void rewrite(StageGraph& stage) {
    forward_.assign(result_.graph.nodes.size(), false);
    for (const NodeId id : stage.forward) forward_[index(id)] = true;
    program_.clear();
    for (const NodeId id : stage.backward) {
      for (std::size_t i = 0; i < result_.graph.node(id).inputs.size(); ++i) {
        const ValueId input = available(result_.graph.node(id).inputs[i]);
        result_.graph.node(id).inputs[i] = input;
      }
      program_.push_back(id);
    }
    stage.backward = program_;
  }

  Partition& partition() { return result_.partition; }
  Recomputed take() { return std::move(result_); }

 private:
  void mark_kept() {
    const Graph& graph = result_.graph;
    for (std::size_t id = 0; id < kept_.size(); ++id) kept_[id] = graph.values[id].checkpoint;
    for (const StageEdge& edge : result_.partition.edges)
      if (edge.value != none) kept_[index(edge.value)] = true;
    for (const Output& output : graph.outputs) kept_[index(output.value)] = true;
    if (graph.loss != none) kept_[index(graph.loss)] = true;
  }

  /// Returns the value that the backward reads in place of `value`. This is `value` itself if it is
  /// kept, or if it does not come from the forward of this stage. Otherwise it is a new value that
  /// repeats `value`, and the nodes that compute the new value are appended if there are none yet.
  ValueId available(ValueId value) {
    const NodeId producer = result_.graph.value(value).producer;
    if (kept_[index(value)] || producer == none || !forward_[index(producer)]) return value;
    if (again_[index(value)] == none) repeat(producer);
    return again_[index(value)];
  }

  void repeat(NodeId id) {
    Node node = result_.graph.node(id);
    for (ValueId& input : node.inputs) input = available(input);
    const auto copy = static_cast<NodeId>(result_.graph.nodes.size());
    for (ValueId& output : node.outputs) output = again_[index(output)] = repeated(output, copy);
    node.name += "/recomputed";
    node.backward = node.recomputed = true;
    node.forward_of = id;
    result_.graph.nodes.push_back(std::move(node));
    program_.push_back(copy);
  }

  ValueId repeated(ValueId value, NodeId producer) {
    Value copy = result_.graph.value(value);
    copy.name += "/recomputed";
    copy.producer = producer;
    result_.graph.values.push_back(std::move(copy));
    return static_cast<ValueId>(result_.graph.values.size()) - 1;
  }

  Recomputed result_;
  // This has, for each ValueId of the original graph, the new value that repeats the value, or
  // `none`.
  std::vector<ValueId> again_;
  // This says, for each ValueId of the original graph, whether the value is kept.
  std::vector<bool> kept_;
  // This says, for each NodeId of the original graph, whether the node is a forward node of the
  // stage that is being rewritten.
  std::vector<bool> forward_;
  // These are the nodes of the stage's new backward, as far as they are known.
  std::vector<NodeId> program_;
};

[[noreturn]] void refuse(std::int32_t stage, std::int32_t last) {
  const std::string expected =
      last == 0 ? "none, for the only stage"
                : "stages before stage " + std::to_string(last) + ", for the last one";
  throw Error(Errc::invalid_topology, "options.training.recompute_stages: expected " + expected +
                                          " never recomputes, got " + std::to_string(stage));
}

}  // namespace

std::vector<bool> recomputed_stages(const RecomputeRequest& request, std::int32_t stages) {
  const std::int32_t last = stages - 1;
  std::vector<bool> result(static_cast<std::size_t>(stages), request.on && request.stages.empty());
  result[index(last)] = false;
  if (!request.on) return result;
  for (const std::int32_t stage : request.stages) {
    if (stage < 0 || stage >= last) refuse(stage, last);
    result[index(stage)] = true;
  }
  return result;
}

Recomputed recompute(Graph graph, Partition partition, const std::vector<bool>& stages) {
  Recomputation recomputation(std::move(graph), std::move(partition));
  for (std::size_t stage = 0; stage < stages.size(); ++stage)
    if (stages[stage]) recomputation.rewrite(recomputation.partition().stages[stage]);
  return recomputation.take();
}

}  // namespace penstock::graph
