// These functions take a NetworkBuilder back to an earlier state.
#include <algorithm>
#include <utility>

#include "engine/model/network_builder.hpp"

namespace penstock {

NetworkBuilder::State NetworkBuilder::state() const {
  std::vector<bool> checkpoints;
  for (const graph::Value& value : graph_.values) checkpoints.push_back(value.checkpoint);
  std::vector<bool> frozen;
  for (const graph::Variable& variable : graph_.variables) frozen.push_back(variable.frozen);
  std::vector<graph::BlockId> block_of;
  for (const graph::Node& node : graph_.nodes) block_of.push_back(node.block);
  return {.values = graph_.values.size(),
          .nodes = graph_.nodes.size(),
          .variables = graph_.variables.size(),
          .inputs = graph_.inputs.size(),
          .outputs = graph_.outputs.size(),
          .loss = graph_.loss,
          .dynamic_axes = graph_.dynamic_axes,
          .shared = shared_,
          .checkpoints = std::move(checkpoints),
          .frozen = std::move(frozen),
          .blocks = graph_.blocks,
          .block_of = std::move(block_of),
          .numbered_blocks = numbered_blocks_,
          .open = open_,
          .scope_of = scope_of_,
          .begun = begun_,
          .assigned = assigned_,
          .stage_scopes = stage_scopes_,
          .scope_ipus = scope_ipus_};
}

void NetworkBuilder::restore(State&& before) noexcept {
  names_.keep(graph_, before.inputs, before.variables, before.nodes, before.outputs);
  names_.forget_blocks();
  graph_.values.resize(before.values);
  serials_.resize(before.values);
  graph_.nodes.resize(before.nodes);
  graph_.variables.resize(before.variables);
  graph_.inputs.resize(before.inputs);
  graph_.outputs.resize(before.outputs);
  graph_.loss = before.loss;
  graph_.dynamic_axes = std::move(before.dynamic_axes);
  shared_ = std::move(before.shared);
  for (std::size_t value = 0; value < before.values; ++value)
    graph_.values[value].checkpoint = before.checkpoints[value];
  for (std::size_t variable = 0; variable < before.variables; ++variable)
    graph_.variables[variable].frozen = before.frozen[variable];
  graph_.blocks = std::move(before.blocks);
  for (std::size_t node = 0; node < before.nodes; ++node)
    graph_.nodes[node].block = before.block_of[node];
  numbered_blocks_ = before.numbered_blocks;
  const std::vector<Scope> now = std::exchange(open_, std::move(before.open));
  std::erase_if(open_, [&](const Scope& scope) {
    return std::ranges::find(now, scope.number, &Scope::number) == now.end();
  });
  scope_of_ = std::move(before.scope_of);
  begun_ = std::move(before.begun);
  assigned_ = std::move(before.assigned);
  stage_scopes_ = std::move(before.stage_scopes);
  scope_ipus_ = std::move(before.scope_ipus);
}

void NetworkBuilder::number_values() {
  while (serials_.size() < graph_.values.size()) serials_.push_back(++last_serial_);
}

bool NetworkBuilder::has(graph::ValueId id, std::uint64_t serial) const noexcept {
  return graph::index(id) < serials_.size() && serials_[graph::index(id)] == serial;
}

NetworkBuilder::Draft::Draft(NetworkBuilder& builder)
    : builder_(builder),
      values_(builder.graph_.values.size()),
      nodes_(builder.graph_.nodes.size()),
      variables_(builder.graph_.variables.size()),
      inputs_(builder.graph_.inputs.size()),
      uses_(builder.shared_.uses()) {}

NetworkBuilder::Draft::~Draft() {
  if (kept_) return;
  graph::Graph& graph = builder_.graph_;
  builder_.names_.keep(graph, inputs_, variables_, nodes_, graph.outputs.size());
  graph.values.resize(values_);
  builder_.serials_.resize(std::min(values_, builder_.serials_.size()));
  graph.nodes.resize(nodes_);
  graph.variables.resize(variables_);
  graph.inputs.resize(inputs_);
  builder_.shared_.forget_uses(uses_);
}

}  // namespace penstock
