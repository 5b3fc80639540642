#include "graph/compile/joined_stages.hpp"

#include <algorithm>

namespace penstock::graph {
namespace {

/// Returns where in the stages each variable of the plan lies.
std::vector<std::vector<CopyPlan>> holders_of_variables(const Plan& plan) {
  std::vector<std::vector<CopyPlan>> holders(plan.variables.size());
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage)
    for (std::size_t k = 0; k < plan.stages[stage].variables.size(); ++k)
      holders[index(plan.stages[stage].variables[k].variable)].push_back(
          {static_cast<std::int32_t>(stage), static_cast<std::int32_t>(k)});
  return holders;
}

/// Returns, for each ValueId of a parameter, where in the stages its sums of gradients lie.
std::vector<std::vector<GradientPlan>> gradients_of_values(
    const Graph& graph, const std::vector<StageMemoryMap>& maps) {
  std::vector<std::vector<GradientPlan>> gradients(graph.values.size());
  for (const ParameterGradient& gradient : graph.parameter_gradients)
    for (std::size_t stage = 0; stage < maps.size(); ++stage)
      if (const auto& sum = maps[stage].placements[index(gradient.sum)])
        gradients[index(gradient.parameter)].push_back(
            {static_cast<std::int32_t>(stage), sum->home});
  return gradients;
}

/// Returns the position of edge number `edge` in StageGraph::backward_sends of `stage`.
std::int32_t send_of(const StageGraph& stage, std::int32_t edge) {
  const auto& sends = stage.backward_sends;
  return static_cast<std::int32_t>(std::ranges::find(sends, edge) - sends.begin());
}

/// Returns edge number `position` of the partition, with the place of its tensor in memory.
Edge edge_of(const Graph& graph, const Partition& partition, std::size_t position,
             const std::vector<StageMemoryMap>& maps) {
  const StageEdge& edge = partition.edges[position];
  Edge result{.kind = edge.kind, .from = edge.from, .to = edge.to};
  if (edge.value != none) {
    result.name = graph.value(edge.value).name;
    result.type = graph.type(edge.value);
  }
  switch (edge.kind) {
    case EdgeKind::input:
      result.input = static_cast<std::int32_t>(std::ranges::find(graph.inputs, edge.value) -
                                               graph.inputs.begin());
      break;
    case EdgeKind::activation:
      result.source = maps[index(edge.from)].home(edge.value);
      break;
    case EdgeKind::gradient:
      result.source = {.space = Space::sent_back,
                       .index = send_of(partition.stages[index(edge.from)],
                                        static_cast<std::int32_t>(position))};
      break;
    case EdgeKind::order:
      break;
  }
  return result;
}

}  // namespace

std::vector<Edge> edges_of(const Graph& graph, const Partition& partition,
                           const std::vector<StageMemoryMap>& maps) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < partition.edges.size(); ++i)
    edges.push_back(edge_of(graph, partition, i, maps));
  return edges;
}

Plan with_owners(Plan plan, const Graph& graph, const std::vector<StageMemoryMap>& maps) {
  const auto variable_at = [&](const CopyPlan& place) -> VariablePlan& {
    return plan.stages[index(place.stage)].variables[index(place.position)];
  };
  const auto all_holders = holders_of_variables(plan);
  const auto all_gradients = gradients_of_values(graph, maps);
  for (std::size_t i = 0; i < plan.variables.size(); ++i) {
    const std::vector<CopyPlan>& holders = all_holders[i];
    if (holders.empty()) continue;
    const auto& gradients = all_gradients[index(graph.variables[i].value)];
    const std::int32_t owner = gradients.empty() ? holders[0].stage : gradients[0].stage;
    plan.variables[i].stage = owner;
    VariablePlan& owned = variable_at(*std::ranges::find(holders, owner, &CopyPlan::stage));
    owned.gradients = gradients;
    for (const CopyPlan& holder : holders) {
      if (holder.stage == owner) continue;
      variable_at(holder).owner = owner;
      owned.copies.push_back(holder);
    }
  }
  return plan;
}

}  // namespace penstock::graph
