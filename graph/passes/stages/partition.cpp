#include "graph/passes/stages/partition.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

class Partitioning {
 public:
  Partitioning(const Graph& graph, const StageAssignment& assignment)
      : graph_(graph), assignment_(assignment) {
    partition_.stages.resize(assignment.stages.size());
  }

  Partition run() {
    share_nodes();
    for (const auto& [value, stage] : deliveries()) join(value, stage);
    join_neighbours();
    if (partition_.stages[0].forward_receives.empty())
      throw Error(Errc::invalid_topology,
                  "stage 0 uses no input of the model; nothing would tell it to begin");
    return std::move(partition_);
  }

 private:
  /// A Delivery is a value, and a stage that has to get it.
  using Delivery = std::pair<ValueId, std::int32_t>;

  void share_nodes() {
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      StageGraph& stage = partition_.stages[index(assignment_.of(node))];
      (node.backward ? stage.backward : stage.forward).push_back(static_cast<NodeId>(id));
    }
  }

  std::set<Delivery> deliveries() const {
    std::set<Delivery> result;
    for (const Node& node : graph_.nodes)
      for (const ValueId input : node.inputs)
        if (const auto stage = assignment_.of(node); stage_of(input, stage) != stage)
          result.emplace(input, stage);
    return result;
  }

  /// Returns the stage that computes value `id`, or `host` for an input. A variable counts as
  /// computed by stage `user`, which uses it.
  std::int32_t stage_of(ValueId id, std::int32_t user) const {
    const Value& value = graph_.value(id);
    if (value.kind == ValueKind::input) return host;
    return value.producer == none ? user : assignment_.of(graph_.node(value.producer));
  }

  void join(ValueId value, std::int32_t to) {
    const std::int32_t from = stage_of(value, to);
    if (from == host) return connect({EdgeKind::input, host, to, value});
    const bool gradient = graph_.node(graph_.value(value).producer).backward;
    if (gradient != (to < from))
      throw Error(Errc::internal, "\"" + graph_.value(value).name + "\" travels from stage " +
                                      std::to_string(from) + " to stage " + std::to_string(to));
    connect({gradient ? EdgeKind::gradient : EdgeKind::activation, from, to, value});
  }

  void join_neighbours() {
    const auto last = static_cast<std::int32_t>(partition_.stages.size()) - 1;
    for (std::int32_t stage = 0; stage < last; ++stage) {
      if (!joined(stage, stage + 1)) connect({EdgeKind::order, stage, stage + 1, none});
      if (!joined(stage + 1, stage)) connect({EdgeKind::order, stage + 1, stage, none});
    }
  }

  bool joined(std::int32_t from, std::int32_t to) const {
    return std::ranges::any_of(partition_.edges, [&](const StageEdge& edge) {
      return edge.from == from && edge.to == to;
    });
  }

  void connect(const StageEdge& edge) {
    const auto position = static_cast<std::int32_t>(partition_.edges.size());
    const bool backward = edge.to < edge.from;
    StageGraph& receiver = partition_.stages[index(edge.to)];
    (backward ? receiver.backward_receives : receiver.forward_receives).push_back(position);
    if (edge.from != host) {
      StageGraph& sender = partition_.stages[index(edge.from)];
      (backward ? sender.backward_sends : sender.forward_sends).push_back(position);
    }
    partition_.edges.push_back(edge);
  }

  const Graph& graph_;
  const StageAssignment& assignment_;
  Partition partition_;
};

}  // namespace

Partition partition(const Graph& graph, const StageAssignment& assignment) {
  return Partitioning(graph, assignment).run();
}

}  // namespace penstock::graph
