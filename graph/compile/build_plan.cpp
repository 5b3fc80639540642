#include "graph/compile/build_plan.hpp"

#include <algorithm>
#include <utility>

#include "graph/compile/joined_stages.hpp"
#include "graph/passes/memory/liveness.hpp"
#include "graph/passes/memory/memory_map.hpp"
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

/// Returns a list that says of each number from 0 to `count` - 1 whether it is among `numbers`.
std::vector<bool> among(std::size_t count, const std::vector<std::int32_t>& numbers) {
  std::vector<bool> is_one(count);
  for (const std::int32_t number : numbers) is_one[index(number)] = true;
  return is_one;
}

bool is_anchor(const Output& output) {
  return output.anchor != none;
}

std::vector<TensorInfo> inputs_of(const Graph& graph) {
  std::vector<TensorInfo> inputs;
  for (const ValueId input : graph.inputs)
    inputs.push_back({graph.value(input).name, graph.type(input)});
  return inputs;
}

/// Adds to `ranges` that the elements of `value` have to be in `range`, for each input of the graph
/// whose elements are all among those of `value`.
void add_ranges(std::vector<InputRange>& ranges, const Graph& graph, ValueId value,
                const IndexRange& range) {
  const auto input = std::ranges::find(graph.inputs, value);
  if (input != graph.inputs.end()) {
    InputRange asked{.input = static_cast<std::int32_t>(input - graph.inputs.begin()),
                     .end = range.end,
                     .other = range.other,
                     .element = std::string(range.element)};
    if (std::ranges::count(ranges, asked) == 0) ranges.push_back(std::move(asked));
    return;
  }
  const NodeId producer = graph.value(value).producer;
  if (producer == none || !graph.node(producer).op->keeps_elements) return;
  for (const ValueId source : graph.node(producer).inputs) add_ranges(ranges, graph, source, range);
}

/// Returns the ranges that forward nodes ask of the inputs of `graph`.
std::vector<InputRange> input_ranges_of(const Graph& graph) {
  std::vector<InputRange> ranges;
  for (const Node& node : graph.nodes) {
    if (!node.op->index_ranges) continue;
    for (const IndexRange& range :
         node.op->index_ranges(node.attributes, types_of(graph, node.inputs)))
      add_ranges(ranges, graph, node.inputs[range.input], range);
  }
  return ranges;
}

std::vector<TensorInfo> described(const Graph& graph, const std::vector<Output>& outputs) {
  std::vector<TensorInfo> infos;
  for (const Output& output : outputs) infos.push_back({output.name, graph.type(output.value)});
  return infos;
}

/// Returns, for each anchor, its position in `outputs`.
std::vector<std::int32_t> anchors_among(const std::vector<Output>& outputs) {
  std::vector<std::int32_t> anchors(
      index(static_cast<std::int32_t>(std::ranges::count_if(outputs, is_anchor))));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (is_anchor(outputs[i])) anchors[index(outputs[i].anchor)] = static_cast<std::int32_t>(i);
  return anchors;
}

std::vector<VariableInfo> variables_of(const Graph& graph, bool training) {
  const auto trained = trained_values(graph);
  std::vector<VariableInfo> variables;
  for (const Variable& variable : graph.variables) {
    const Value& value = graph.value(variable.value);
    const bool trainable =
        training ? trained[index(variable.value)] : value.kind == ValueKind::parameter;
    variables.push_back({.name = value.name, .type = value.type, .trainable = trainable});
  }
  return variables;
}

ScratchPlaces scratch_places(const Graph& graph, const Liveness& live, const MemoryPlan& memory) {
  ScratchPlaces places;
  places.of_value.resize(graph.values.size());
  for (const auto& [value, buffer] : live.values)
    places.of_value[index(value)] = Location{.offset = memory.offsets[buffer]};
  for (const auto& [buffer, bytes] : live.workspaces)
    places.workspaces.push_back({bytes > 0 ? memory.offsets[buffer] : 0, bytes});
  return places;
}

/// A ProgramInScratch is a program, and the number of bytes of scratch that it needs.
struct ProgramInScratch {
  Program program = {};
  std::int64_t scratch_bytes = 0;
};

ProgramInScratch program_of(const Graph& graph, const std::vector<NodeId>& nodes,
                            const Placements& placements, const PlanRequest& request) {
  const Liveness live = find_liveness(
      graph, nodes, placements, {.in_place = request.in_place, .threads = request.threads_per_ipu});
  const MemoryPlan memory = plan_memory(live.buffers);
  return {
      lower(graph, nodes, placements, scratch_places(graph, live, memory), request.threads_per_ipu),
      memory.bytes};
}

/// Returns those of `outputs` that are computed by `nodes`, which are the nodes of one direction of
/// a stage.
std::vector<OutputPlan> outputs_from(const Graph& graph, const std::vector<Output>& outputs,
                                     const std::vector<NodeId>& nodes, const StageMemoryMap& map) {
  const std::vector<bool> is_here = among(graph.nodes.size(), nodes);
  std::vector<OutputPlan> found;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NodeId producer = graph.value(outputs[i].value).producer;
    if (producer != none && is_here[index(producer)])
      found.push_back({static_cast<std::int32_t>(i), map.home(outputs[i].value)});
  }
  return found;
}

/// Returns a list that says of each ValueId whether the value is a buffer that a node updates.
std::vector<bool> updated_buffers(const Graph& graph) {
  std::vector<bool> updated(graph.values.size());
  for (const Node& node : graph.nodes)
    for (const Update& update : node.op->updates) {
      const ValueId value = node.inputs[index(update.input)];
      if (graph.value(value).kind == ValueKind::buffer) updated[index(value)] = true;
    }
  return updated;
}

/// Returns the variables of a stage. In training, the copies of the stage's updated buffers as they
/// were after the last update lie one after the other.
std::vector<VariablePlan> variables_here(const Graph& graph, const StageMemoryMap& map,
                                         const std::vector<VariableInfo>& variables,
                                         bool training) {
  const std::vector<bool> is_here = among(graph.values.size(), map.variables);
  const std::vector<bool> updated = updated_buffers(graph);
  std::vector<VariablePlan> plans;
  std::int64_t kept_bytes = 0;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const ValueId value = graph.variables[i].value;
    if (!is_here[index(value)]) continue;
    const VariableInfo& info = variables[i];
    const Location& home = map.home(value);
    const bool kept = training && updated[index(value)];
    plans.push_back({.variable = static_cast<std::int32_t>(i),
                     .type = info.type,
                     .home = home,
                     .trainable = info.trainable,
                     .kept_offset = kept ? kept_bytes : none});
    if (kept) kept_bytes += aligned(info.type.bytes());
  }
  return plans;
}

/// Returns how many bytes the copies of a stage's buffers as they were after the last update take.
std::int64_t kept_bytes_of(const std::vector<VariablePlan>& variables) {
  std::int64_t bytes = 0;
  for (const VariablePlan& variable : variables)
    if (variable.kept_offset != none) bytes += aligned(variable.type.bytes());
  return bytes;
}

std::int32_t in_flight_of(std::size_t stage, std::size_t stages, const PlanRequest& request) {
  return request.phases.none() ? most_in_flight(*request.schedule, static_cast<int>(stage),
                                                static_cast<int>(stages), request.window)
                               : request.phases.turn;
}

/// Returns the plan of one stage. It does not yet say which stage updates the stage's variables.
StagePlan stage_of(const Graph& graph, const StagePlacement& placement, const StageGraph& nodes,
                   const StageMemoryMap& map, const std::vector<Output>& outputs,
                   const std::vector<VariableInfo>& variables, std::int32_t in_flight,
                   const PlanRequest& request) {
  auto [forward, forward_scratch] = program_of(graph, nodes.forward, map.placements, request);
  auto [backward, backward_scratch] = program_of(graph, nodes.backward, map.placements, request);
  auto [prepare, prepare_scratch] = program_of(graph, nodes.prepare, map.placements, request);
  for (const GradientCopy& copy : map.copies)
    append_copy(graph, copy.value, map.home(copy.value), copy.target, backward);
  std::vector<OutputPlan> sent = outputs_from(graph, outputs, nodes.forward, map);
  const std::vector<OutputPlan> gradients = outputs_from(graph, outputs, nodes.backward, map);
  sent.insert(sent.end(), gradients.begin(), gradients.end());
  std::ranges::sort(sent, {}, &OutputPlan::output);
  std::vector<VariablePlan> held = variables_here(graph, map, variables, request.training);
  const std::int64_t kept_bytes = kept_bytes_of(held);
  const std::int32_t output_slots = sent.empty() ? 0 : in_flight + 2;
  return {.ipu = placement.ipu,
          .blocks = placement.blocks,
          .forward = std::move(forward),
          .backward = std::move(backward),
          .prepare = std::move(prepare),
          .forward_receives = nodes.forward_receives,
          .forward_sends = nodes.forward_sends,
          .backward_receives = nodes.backward_receives,
          .backward_sends = nodes.backward_sends,
          .outputs = std::move(sent),
          .outputs_after_backward = !gradients.empty(),
          .variables = std::move(held),
          .parameter_bytes = map.parameter_bytes,
          .buffer_bytes = map.buffer_bytes,
          .host_parameter_bytes = map.host_parameter_bytes,
          .prepared_bytes = map.prepared_bytes,
          .accumulator_bytes = map.accumulator_bytes,
          .host_accumulator_bytes = map.host_accumulator_bytes,
          .kept_bytes = kept_bytes,
          .stash_bytes = map.stash_bytes,
          .host_stash_bytes = map.host_stash_bytes,
          .output_bytes = map.output_bytes,
          .scratch_bytes = std::max({forward_scratch, backward_scratch, prepare_scratch}),
          .in_flight = in_flight,
          .output_slots = output_slots};
}

}  // namespace

Plan build_plan(const Graph& graph, const StageAssignment& assignment, const Partition& partition,
                const PlanRequest& request) {
  const std::vector<Output> outputs = outputs_of(graph, request.training);
  const std::vector<VariableInfo> variables = variables_of(graph, request.training);
  std::vector<StageMemoryMap> maps;
  std::vector<StagePlan> stages;
  for (std::size_t i = 0; i < partition.stages.size(); ++i) {
    maps.push_back(
        map_memory(graph, partition, static_cast<std::int32_t>(i), outputs, request.offload));
    stages.push_back(stage_of(graph, assignment.stages[i], partition.stages[i], maps[i], outputs,
                              variables, in_flight_of(i, partition.stages.size(), request),
                              request));
  }
  Plan plan{.name = graph.name,
            .training = request.training,
            .batch = request.batch,
            .schedule = request.schedule,
            .phases = request.phases,
            .window = request.window,
            .threads_per_ipu = request.threads_per_ipu,
            .stages = std::move(stages),
            .edges = edges_of(graph, partition, maps),
            .inputs = inputs_of(graph),
            .input_ranges = input_ranges_of(graph),
            .outputs = described(graph, outputs),
            .anchors = anchors_among(outputs),
            .variables = variables};
  if (request.training) plan.loss = static_cast<std::int32_t>(outputs.size()) - 1;
  return with_owners(std::move(plan), graph, maps);
}

std::vector<bool> trained_values(const Graph& graph) {
  std::vector<bool> trained(graph.values.size());
  for (const ParameterGradient& gradient : graph.parameter_gradients)
    trained[index(gradient.parameter)] = true;
  return trained;
}

}  // namespace penstock::graph
