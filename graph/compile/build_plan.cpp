#include "graph/compile/build_plan.hpp"

#include <algorithm>
#include <utility>

#include "graph/passes/memory/layout.hpp"
#include "graph/passes/memory/liveness.hpp"
#include "graph/passes/memory/memory_plan.hpp"
#include "graph/passes/results/lower.hpp"
#include "graph/values/memory.hpp"

namespace penstock::graph {
namespace {

/// Returns the outputs in the model's order; in training, the loss is last.
std::vector<Output> outputs_of(const Graph& graph, bool training) {
  std::vector<Output> outputs = graph.outputs;
  if (training) outputs.push_back({"loss", graph.loss});
  return outputs;
}

/// Says of each of `count` numbers whether it is one of `numbers`.
std::vector<bool> among(std::size_t count, const std::vector<std::int32_t>& numbers) {
  std::vector<bool> is_one(count);
  for (const std::int32_t number : numbers) is_one[index(number)] = true;
  return is_one;
}

const Location& home_of(const StageLayout& layout, ValueId value) {
  return layout.placements[index(value)]->home;
}

bool is_anchor(const Output& output) {
  return output.anchor != none;
}

class PlanBuilder {
 public:
  PlanBuilder(const Graph& graph, const StageAssignment& assignment, const Partition& partition,
              const PlanRequest& request)
      : graph_(graph),
        assignment_(assignment),
        partition_(partition),
        request_(request),
        outputs_(outputs_of(graph, request.training)) {}

  Plan run() {
    plan_.name = graph_.name;
    plan_.training = request_.training;
    plan_.batch = request_.batch;
    plan_.schedule = request_.schedule;
    plan_.phases = request_.phases;
    plan_.threads_per_ipu = request_.threads_per_ipu;
    add_interface();
    add_variables();
    for (std::size_t stage = 0; stage < partition_.stages.size(); ++stage) add_stage(stage);
    add_owners();
    for (const StageEdge& edge : partition_.edges) add_edge(edge);
    return std::move(plan_);
  }

 private:
  void add_interface() {
    for (const ValueId input : graph_.inputs)
      plan_.inputs.push_back({graph_.value(input).name, graph_.type(input)});
    for (const Output& output : outputs_)
      plan_.outputs.push_back({output.name, graph_.type(output.value)});
    plan_.anchors.resize(
        index(static_cast<std::int32_t>(std::ranges::count_if(outputs_, is_anchor))));
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (is_anchor(outputs_[i]))
        plan_.anchors[index(outputs_[i].anchor)] = static_cast<std::int32_t>(i);
    if (plan_.training) plan_.loss = static_cast<std::int32_t>(outputs_.size()) - 1;
  }

  void add_variables() {
    const auto trained = trained_values(graph_);
    for (const Variable& variable : graph_.variables) {
      const Value& value = graph_.value(variable.value);
      const bool trainable =
          request_.training ? trained[index(variable.value)] : value.kind == ValueKind::parameter;
      plan_.variables.push_back({.name = value.name, .type = value.type, .trainable = trainable});
    }
  }

  void add_stage(std::size_t number) {
    const StageGraph& share = partition_.stages[number];
    layouts_.push_back(
        lay_out(graph_, partition_, static_cast<std::int32_t>(number), outputs_, request_.offload));
    const StageLayout& layout = layouts_.back();
    StagePlan stage{.ipu = assignment_.stages[number].ipu,
                    .blocks = assignment_.stages[number].blocks,
                    .forward_receives = share.forward_receives,
                    .forward_sends = share.forward_sends,
                    .backward_receives = share.backward_receives,
                    .backward_sends = share.backward_sends,
                    .parameter_bytes = layout.parameter_bytes,
                    .host_parameter_bytes = layout.host_parameter_bytes,
                    .accumulator_bytes = layout.accumulator_bytes,
                    .host_accumulator_bytes = layout.host_accumulator_bytes,
                    .stash_bytes = layout.stash_bytes,
                    .host_stash_bytes = layout.host_stash_bytes};
    stage.forward = program_of(share.forward, layout, stage.scratch_bytes);
    stage.backward = program_of(share.backward, layout, stage.scratch_bytes);
    for (const GradientCopy& copy : layout.copies)
      append_copy(graph_, copy.value, home_of(layout, copy.value), copy.target, stage.backward);
    add_outputs(share, layout, stage);
    add_stage_variables(layout, stage);
    limit_in_flight(number, stage);
    plan_.stages.push_back(std::move(stage));
  }

  /// Returns the instructions of `nodes`, and raises `scratch_bytes` to what they need.
  Program program_of(const std::vector<NodeId>& nodes, const StageLayout& layout,
                     std::int64_t& scratch_bytes) const {
    const Liveness live =
        find_liveness(graph_, nodes, layout.placements,
                      {.in_place = request_.in_place, .threads = request_.threads_per_ipu});
    const MemoryPlan memory = plan_memory(live.buffers);
    scratch_bytes = std::max(scratch_bytes, memory.bytes);
    return lower(graph_, nodes, layout.placements, scratch_places(live, memory),
                 request_.threads_per_ipu);
  }

  ScratchPlaces scratch_places(const Liveness& live, const MemoryPlan& memory) const {
    ScratchPlaces places;
    places.of_value.resize(graph_.values.size());
    for (const auto& [value, buffer] : live.values)
      places.of_value[index(value)] = Location{.offset = memory.offsets[buffer]};
    for (const auto& [buffer, bytes] : live.workspaces)
      places.workspaces.push_back({bytes > 0 ? memory.offsets[buffer] : 0, bytes});
    return places;
  }

  void add_outputs(const StageGraph& share, const StageLayout& layout, StagePlan& stage) const {
    const std::vector<bool> in_forward = among(graph_.nodes.size(), share.forward),
                            in_backward = among(graph_.nodes.size(), share.backward);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const NodeId producer = graph_.value(outputs_[i].value).producer;
      const bool backward = producer != none && in_backward[index(producer)];
      if (!backward && (producer == none || !in_forward[index(producer)])) continue;
      stage.outputs.push_back({static_cast<std::int32_t>(i), home_of(layout, outputs_[i].value)});
      stage.outputs_after_backward |= backward;
    }
  }

  void add_stage_variables(const StageLayout& layout, StagePlan& plan) {
    const std::vector<bool> is_here = among(graph_.values.size(), layout.variables);
    for (std::size_t i = 0; i < graph_.variables.size(); ++i) {
      const ValueId value = graph_.variables[i].value;
      if (!is_here[index(value)]) continue;
      const VariableInfo& info = plan_.variables[i];
      const Location& home = home_of(layout, value);
      const bool kept = !info.trainable && !in_host_store(home.space);
      plan.variables.push_back({.variable = static_cast<std::int32_t>(i),
                                .type = info.type,
                                .home = home,
                                .trainable = info.trainable,
                                .kept_offset = kept ? plan.kept_bytes : none});
      if (kept) plan.kept_bytes += aligned(info.type.bytes());
    }
  }

  /// Says, once every stage is there, who updates which parameter from which gradients.
  void add_owners() {
    const auto all_holders = holders_by_variable();
    auto all_gradients = gradients_by_value();
    for (std::size_t i = 0; i < graph_.variables.size(); ++i) {
      const std::vector<CopyPlan>& holders = all_holders[i];
      if (holders.empty()) continue;
      std::vector<GradientPlan>& gradients = all_gradients[index(graph_.variables[i].value)];
      const std::int32_t owner = gradients.empty() ? holders[0].stage : gradients[0].stage;
      plan_.variables[i].stage = owner;
      VariablePlan& owned = variable_at(*std::ranges::find(holders, owner, &CopyPlan::stage));
      owned.gradients = std::move(gradients);
      for (const CopyPlan& holder : holders) {
        if (holder.stage == owner) continue;
        variable_at(holder).owner = owner;
        owned.copies.push_back(holder);
      }
    }
  }

  std::vector<std::vector<CopyPlan>> holders_by_variable() const {
    std::vector<std::vector<CopyPlan>> holders(graph_.variables.size());
    for (std::size_t stage = 0; stage < plan_.stages.size(); ++stage)
      for (std::size_t k = 0; k < plan_.stages[stage].variables.size(); ++k)
        holders[index(plan_.stages[stage].variables[k].variable)].push_back(
            {static_cast<std::int32_t>(stage), static_cast<std::int32_t>(k)});
    return holders;
  }

  VariablePlan& variable_at(const CopyPlan& place) {
    return plan_.stages[index(place.stage)].variables[index(place.position)];
  }

  std::vector<std::vector<GradientPlan>> gradients_by_value() const {
    std::vector<std::vector<GradientPlan>> gradients(graph_.values.size());
    for (const ParameterGradient& gradient : graph_.parameter_gradients)
      for (std::size_t stage = 0; stage < layouts_.size(); ++stage)
        if (const auto& sum = layouts_[stage].placements[index(gradient.sum)])
          gradients[index(gradient.parameter)].push_back(
              {static_cast<std::int32_t>(stage), sum->home});
    return gradients;
  }

  void limit_in_flight(std::size_t number, StagePlan& stage) const {
    stage.in_flight = plan_.phases.none()
                          ? plan_.schedule->in_flight(static_cast<int>(number),
                                                      static_cast<int>(partition_.stages.size()))
                          : plan_.phases.turn;
    stage.stash_slots = stage.in_flight + (stage.outputs.empty() ? 0 : 2);
  }

  void add_edge(const StageEdge& edge) {
    Edge result{.kind = edge.kind, .from = edge.from, .to = edge.to};
    if (edge.value != none) {
      result.name = graph_.value(edge.value).name;
      result.type = graph_.type(edge.value);
    }
    const auto position = static_cast<std::int32_t>(plan_.edges.size());
    switch (edge.kind) {
      case EdgeKind::input:
        result.input = static_cast<std::int32_t>(std::ranges::find(graph_.inputs, edge.value) -
                                                 graph_.inputs.begin());
        break;
      case EdgeKind::activation:
        result.source = home_of(layouts_[index(edge.from)], edge.value);
        break;
      case EdgeKind::gradient:
        result.source = {.space = Space::sent_back, .index = send_of(edge.from, position)};
        break;
      case EdgeKind::order:
        break;
    }
    plan_.edges.push_back(std::move(result));
  }

  /// Returns the position of an edge among those that a stage's backward sends.
  std::int32_t send_of(std::int32_t stage, std::int32_t edge) const {
    const auto& sends = partition_.stages[index(stage)].backward_sends;
    return static_cast<std::int32_t>(std::ranges::find(sends, edge) - sends.begin());
  }

  const Graph& graph_;
  const StageAssignment& assignment_;
  const Partition& partition_;
  const PlanRequest& request_;
  std::vector<Output> outputs_;
  std::vector<StageLayout> layouts_;
  Plan plan_;
};

}  // namespace

Plan build_plan(const Graph& graph, const StageAssignment& assignment, const Partition& partition,
                const PlanRequest& request) {
  return PlanBuilder(graph, assignment, partition, request).run();
}

std::vector<bool> trained_values(const Graph& graph) {
  std::vector<bool> trained(graph.values.size());
  for (const ParameterGradient& gradient : graph.parameter_gradients)
    trained[index(gradient.parameter)] = true;
  return trained;
}

}  // namespace penstock::graph
