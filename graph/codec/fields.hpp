// These functions list the fields of the structures of graphs, plans and reports, for archives.
// Each structured binding names all fields of its structure, so that a field that is added to the
// structure does not compile until it is listed here.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/compile/advice.hpp"
#include "graph/ir/attributes.hpp"
#include "graph/ir/graph.hpp"
#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "graph/passes/memory/recompute.hpp"
#include "graph/passes/network/anchors.hpp"
#include "graph/passes/stages/phase_assignment.hpp"
#include "graph/passes/stages/stages.hpp"
#include "graph/plan/plan.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "graph/values/archive.hpp"
#include "graph/values/option_fields.hpp"
#include "graph/values/text.hpp"
#include "penstock/report.hpp"

namespace penstock::graph {

template <>
inline constexpr Space last_of<Space> = Space::outputs;
template <>
inline constexpr EdgeKind last_of<EdgeKind> = EdgeKind::order;
template <>
inline constexpr Transfer last_of<Transfer> = Transfer::store;
template <>
inline constexpr Option last_of<Option> = Option::least_sharded_optimizer_state;
static_assert(static_cast<int>(last_of<Option>) + 1 == options);

void fields(auto& archive, Either<TensorType> auto& type) {
  auto& [dtype, shape] = type;
  archive(dtype, shape);
}

inline void fields(Writer& writer, const Integers& list) {
  writer(static_cast<const std::vector<std::int64_t>&>(list));
}

inline void fields(Reader& reader, Integers& list) {
  reader(static_cast<std::vector<std::int64_t>&>(list));
}

using AttributeEntries = std::vector<std::pair<std::string, AttributeValue>>;

inline void fields(Writer& writer, const Attributes& attributes) {
  writer(AttributeEntries(attributes.begin(), attributes.end()));
}

inline void fields(Reader& reader, Attributes& attributes) {
  AttributeEntries entries;
  reader(entries);
  attributes = {};
  for (auto& [name, value] : entries) attributes.set(std::move(name), std::move(value));
}

/// Reads the name of a `Known`, such as an op, and returns the one that `find` finds by the name,
/// or null if the name is empty. `what` says what a `Known` is.
template <class Known>
const Known* read_known(Reader& reader, const std::string& what, const auto& find) {
  std::string name;
  reader(name);
  if (name.empty()) return nullptr;
  try {
    return &find(name);
  } catch (const Error&) {
    Reader::fail("a known " + what + ", got " + quoted_name(name));
  }
}

inline void fields(Writer& writer, const Op* const& op) {
  writer(std::string(op ? op->name : ""));
}

inline void fields(Reader& reader, const Op*& op) {
  op = read_known<Op>(reader, "op", find_op);
}

inline void fields(Writer& writer, const Schedule* const& schedule) {
  writer(std::string(schedule ? schedule->name : ""));
}

inline void fields(Reader& reader, const Schedule*& schedule) {
  schedule = read_known<Schedule>(reader, "schedule", find_schedule);
}

// The following functions list the fields of a model's structures.

void fields(auto& archive, Either<Value> auto& value) {
  auto& [name, type, kind, producer, checkpoint] = value;
  archive(name, type, kind, producer, checkpoint);
}

void fields(auto& archive, Either<Node> auto& node) {
  auto& [name, op, attributes, inputs, outputs, block, backward, forward_of, recomputed, apart,
         fixed_size] = node;
  archive(name, op, attributes, inputs, outputs, block, backward, forward_of, recomputed, apart,
          fixed_size);
}

void fields(auto& archive, Either<Initializer> auto& initializer) {
  auto& [kind, center, spread, low, high, fan, zero_row] = initializer;
  archive(kind, center, spread, low, high, fan, zero_row);
}

void fields(auto& archive, Either<Variable> auto& variable) {
  auto& [value, initializer, frozen] = variable;
  archive(value, initializer, frozen);
}

void fields(auto& archive, Either<Block> auto& block) {
  auto& [name, ipu, stage] = block;
  archive(name, ipu, stage);
}

void fields(auto& archive, Either<Output> auto& output) {
  auto& [name, value, anchor] = output;
  archive(name, value, anchor);
}

void fields(auto& archive, Either<GradientAnchor> auto& gradient) {
  auto& [value, anchor, lane_batch] = gradient;
  archive(value, anchor, lane_batch);
}

void fields(auto& archive, Either<Twin> auto& twin) {
  auto& [value, original] = twin;
  archive(value, original);
}

void fields(auto& archive, Either<ParameterGradient> auto& parameter_gradient) {
  auto& [parameter, gradient, sum, use] = parameter_gradient;
  archive(parameter, gradient, sum, use);
}

void fields(auto& archive, Either<DynamicAxis> auto& dynamic) {
  auto& [input, axis, shortest] = dynamic;
  archive(input, axis, shortest);
}

void fields(auto& archive, Either<Graph> auto& graph) {
  auto& [name, values, nodes, blocks, inputs, variables, outputs, gradients, twins, loss,
         parameter_gradients, dynamic_axes] = graph;
  archive(name, values, nodes, blocks, inputs, variables, outputs, gradients, twins, loss,
          parameter_gradients, dynamic_axes);
}

// The following functions list the fields of the structures in which a compilation is asked for.

void fields(auto& archive, Either<StageRequest> auto& stage) {
  auto& [blocks, ipu, phase, default_ipu] = stage;
  archive(blocks, ipu, phase, default_ipu);
}

void fields(auto& archive, Either<PhaseRequest> auto& request) {
  auto& [parallel, stages, liveness, separate_backward, turn] = request;
  archive(parallel, stages, liveness, separate_backward, turn);
}

void fields(auto& archive, Either<RecomputeRequest> auto& recompute) {
  auto& [on, stages] = recompute;
  archive(on, stages);
}

void fields(auto& archive, Either<AnchorRequest> auto& anchor) {
  auto& [tensor, gradient] = anchor;
  archive(tensor, gradient);
}

void fields(auto& archive, OptionGroup auto& group) {
  each_option(group, [&](const auto& row) { archive(row.field); });
}

// The following functions list the fields of a plan's structures.

void fields(auto& archive, Either<Location> auto& location) {
  auto& [space, index, offset] = location;
  archive(space, index, offset);
}

void fields(auto& archive, Either<Cost> auto& cost) {
  auto& [flops, bytes] = cost;
  archive(flops, bytes);
}

void fields(auto& archive, Either<Sharing> auto& sharing) {
  auto& [units, parts, pieces] = sharing;
  archive(units, parts, pieces);
}

void fields(auto& archive, Either<Instruction> auto& instruction) {
  auto& [name, name_hash, op, attributes, input_types, output_types, inputs, outputs,
         workspace_offset, workspace_bytes, sharing, transfer, recomputed, first_outputs,
         in_first] = instruction;
  archive(name, name_hash, op, attributes, input_types, output_types, inputs, outputs,
          workspace_offset, workspace_bytes, sharing, transfer, recomputed, first_outputs,
          in_first);
}

void fields(auto& archive, Either<Program> auto& program) {
  auto& [instructions, cost, recomputed, recomputed_cost] = program;
  archive(instructions, cost, recomputed, recomputed_cost);
}

void fields(auto& archive, Either<Edge> auto& edge) {
  auto& [kind, from, to, name, type, input, source] = edge;
  archive(kind, from, to, name, type, input, source);
}

void fields(auto& archive, Either<GradientPlan> auto& gradient) {
  auto& [stage, home] = gradient;
  archive(stage, home);
}

void fields(auto& archive, Either<CopyPlan> auto& copy) {
  auto& [stage, position] = copy;
  archive(stage, position);
}

void fields(auto& archive, Either<VariablePlan> auto& plan) {
  auto& [variable, type, home, trainable, kept_offset, owner, gradients, copies] = plan;
  archive(variable, type, home, trainable, kept_offset, owner, gradients, copies);
}

void fields(auto& archive, Either<OutputPlan> auto& plan) {
  auto& [output, source] = plan;
  archive(output, source);
}

void fields(auto& archive, Either<StagePlan> auto& stage) {
  auto& [ipu, blocks, forward, backward, prepare, forward_receives, forward_sends,
         backward_receives, backward_sends, outputs, outputs_after_backward, variables,
         parameter_bytes, buffer_bytes, host_parameter_bytes, prepared_bytes, accumulator_bytes,
         host_accumulator_bytes, kept_bytes, stash_bytes, host_stash_bytes, output_bytes,
         scratch_bytes, in_flight, output_slots] = stage;
  archive(ipu, blocks, forward, backward, prepare, forward_receives, forward_sends,
          backward_receives, backward_sends, outputs, outputs_after_backward, variables,
          parameter_bytes, buffer_bytes, host_parameter_bytes, prepared_bytes, accumulator_bytes,
          host_accumulator_bytes, kept_bytes, stash_bytes, host_stash_bytes, output_bytes,
          scratch_bytes, in_flight, output_slots);
}

void fields(auto& archive, Either<VariableInfo> auto& variable) {
  auto& [name, type, trainable, stage] = variable;
  archive(name, type, trainable, stage);
}

void fields(auto& archive, Either<TensorInfo> auto& tensor) {
  auto& [name, type] = tensor;
  archive(name, type);
}

void fields(auto& archive, Either<InputRange> auto& range) {
  auto& [input, end, other, element] = range;
  archive(input, end, other, element);
}

void fields(auto& archive, Either<PhaseNumbers> auto& numbers) {
  auto& [forward, backward] = numbers;
  archive(forward, backward);
}

void fields(auto& archive, Either<Phases> auto& phases) {
  auto& [of_stage, numbers, turn, parallel] = phases;
  archive(of_stage, numbers, turn, parallel);
}

void fields(auto& archive, Either<Plan> auto& plan) {
  auto& [name, training, batch, schedule, phases, window, threads_per_ipu, stages, edges, inputs,
         input_ranges, outputs, loss, anchors, variables] = plan;
  archive(name, training, batch, schedule, phases, window, threads_per_ipu, stages, edges, inputs,
          input_ranges, outputs, loss, anchors, variables);
}

// The following functions list the fields of a report's structures.

void fields(auto& archive, Either<CompileStep> auto& step) {
  auto& [name, seconds] = step;
  archive(name, seconds);
}

void fields(auto& archive, Either<StagePlanReport> auto& report) {
  auto& [stage, ipu, blocks, phase, forward_phase, backward_phase, first_layer, parameters,
         forward_flops, backward_flops, recomputed_flops, share, forward_seconds, backward_seconds,
         in_flight_limit, stash_bytes, bytes] = report;
  archive(stage, ipu, blocks, phase, forward_phase, backward_phase, first_layer, parameters,
          forward_flops, backward_flops, recomputed_flops, share, forward_seconds, backward_seconds,
          in_flight_limit, stash_bytes, bytes);
}

void fields(auto& archive, Either<EdgePlanReport> auto& report) {
  auto& [from, to, tensor, gradient, bytes] = report;
  archive(from, to, tensor, gradient, bytes);
}

void fields(auto& archive, Either<Note> auto& note) {
  auto& [about, text] = note;
  archive(about, text);
}

void fields(auto& archive, Either<CompileReport> auto& report) {
  // The archive leaves out `call` and `outputs`, which follow from options that may differ between
  // models that share a plan, and the warnings, which are made from the notes.
  auto& [seconds, steps, from_cache, call, stages, edges, outputs, layout_conversions, lanes,
         wasted_lanes, expected_utilization, ramp, threads, threads_per_ipu, expected_speedup,
         automatic_stages, warnings] = report;
  archive(seconds, steps, from_cache, stages, edges, layout_conversions, lanes, wasted_lanes,
          expected_utilization, ramp, threads, threads_per_ipu, expected_speedup, automatic_stages);
}

}  // namespace penstock::graph
