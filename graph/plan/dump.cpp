#include "graph/plan/dump.hpp"

#include <string_view>

#include "graph/ir/op.hpp"
#include "graph/values/text.hpp"

namespace penstock::graph {
namespace {

std::string typed(const Graph& graph, ValueId id) {
  return graph.value(id).name + " " + to_string(graph.type(id));
}

std::string_view to_string(ValueKind kind) {
  return kind == ValueKind::parameter ? "parameter" : "buffer";
}

std::string_view to_string(Space space) {
  switch (space) {
    case Space::parameters:
      return "parameters";
    case Space::buffers:
      return "buffers";
    case Space::weight_room:
      return "weight_room";
    case Space::accumulators:
      return "accumulators";
    case Space::host_accumulators:
      return "host_accumulators";
    case Space::stash:
      return "stash";
    case Space::host_stash:
      return "host_stash";
    case Space::scratch:
      return "scratch";
    case Space::received:
      return "received";
    case Space::sent_back:
      return "sent_back";
    case Space::prepared:
      return "prepared";
    case Space::outputs:
      return "outputs";
  }
  return "";
}

std::string_view to_string(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::input:
      return "input";
    case EdgeKind::activation:
      return "activation";
    case EdgeKind::gradient:
      return "gradient";
    case EdgeKind::order:
      return "order";
  }
  return "";
}

std::string to_string(const Location& location) {
  const std::string space(to_string(location.space));
  const bool by_edge = location.space == Space::received || location.space == Space::sent_back;
  return by_edge ? space + "[" + std::to_string(location.index) + "]"
                 : space + "+" + std::to_string(location.offset);
}

std::string stage_name(std::int32_t stage) {
  return stage == host ? "host" : "stage " + std::to_string(stage);
}

std::string line(const Graph& graph, const Node& node) {
  const std::string block = node.block == none ? "" : "  # " + graph.blocks[index(node.block)].name;
  return joined(node.outputs, [&](ValueId id) { return typed(graph, id); }) + " = " +
         std::string(node.op->name) + "(" +
         joined(node.inputs, [&](ValueId id) { return graph.value(id).name; }) + ")" + block + "\n";
}

std::string line(const Edge& edge) {
  std::string text(to_string(edge.kind));
  if (edge.kind != EdgeKind::order) text += " " + edge.name + " " + to_string(edge.type);
  text += ": " + stage_name(edge.from);
  if (edge.kind == EdgeKind::activation || edge.kind == EdgeKind::gradient)
    text += " " + to_string(edge.source);
  return text + " -> " + stage_name(edge.to) + "\n";
}

std::string line(const Instruction& instruction) {
  const auto places = [](const std::vector<Location>& locations) {
    return joined(locations, [](const Location& location) { return to_string(location); });
  };
  std::string text = "    " + std::string(instruction.op->name) + " \"" + instruction.name +
                     "\" (" + places(instruction.inputs) + ") -> " + places(instruction.outputs);
  if (instruction.workspace_bytes > 0)
    text += ", " + std::to_string(instruction.workspace_bytes) +
            (instruction.sharing.parts > 1 ? " bytes a part at scratch+" : " bytes at scratch+") +
            std::to_string(instruction.workspace_offset);
  const Sharing& sharing = instruction.sharing;
  if (sharing.parts > 1)
    text += ", in " + std::to_string(sharing.parts) + " parts of " + std::to_string(sharing.units) +
            " units";
  if (sharing.pieces > 1)
    text += ", " + std::string(sharing.parts > 1 ? "each " : "") + "in " +
            std::to_string(sharing.pieces) + " pieces";
  if (!instruction.first_outputs.empty())
    text += ", in the first micro-batch -> " + places(instruction.first_outputs);
  if (!instruction.in_first) text += ", not in the first micro-batch";
  return text + "\n";
}

std::string lines(const Program& program) {
  std::string text;
  for (const Instruction& instruction : program.instructions) text += line(instruction);
  return text;
}

std::string lines(std::string_view name, const std::vector<std::int32_t>& receives,
                  const Program& program, const std::vector<std::int32_t>& sends) {
  const auto numbers = [](const std::vector<std::int32_t>& edges) {
    return joined(edges, [](std::int32_t edge) { return std::to_string(edge); });
  };
  return "  " + std::string(name) + ": receives [" + numbers(receives) + "], sends [" +
         numbers(sends) + "]\n" + lines(program);
}

std::string lines(const Plan& plan, const VariablePlan& variable, std::int32_t stage) {
  const VariableInfo& info = plan.variables[index(variable.variable)];
  std::string text =
      "  " + info.name + " " + to_string(info.type) + ": " + to_string(variable.home);
  for (const GradientPlan& gradient : variable.gradients)
    text += (gradient.stage == stage ? ", " : ", stage " + std::to_string(gradient.stage) + " ") +
            to_string(gradient.home);
  if (variable.owner != none) text += ", a copy of stage " + std::to_string(variable.owner) + "'s";
  return text + "\n";
}

std::string lines(const Plan& plan, std::size_t number) {
  const StagePlan& stage = plan.stages[number];
  const auto bytes = [](std::string_view name, std::int64_t count) {
    return ", " + std::string(name) + " " + std::to_string(count);
  };
  const bool has_outputs = stage.output_slots > 0;
  std::string text =
      "stage " + std::to_string(number) + " on IPU " + std::to_string(stage.ipu) + " (" +
      joined(stage.blocks) + "): " + std::to_string(stage.in_flight) + " in flight" +
      (has_outputs ? ", " + std::to_string(stage.output_slots) + " output slots" : "") +
      "; bytes: parameters " + std::to_string(stage.parameter_bytes) +
      (stage.buffer_bytes > 0 ? bytes("buffers", stage.buffer_bytes) : "") +
      (stage.prepared_bytes > 0 ? bytes("prepared", stage.prepared_bytes) : "") +
      bytes("accumulators", stage.accumulator_bytes) + bytes("stash", stage.stash_bytes) +
      (has_outputs ? bytes("outputs", stage.output_bytes) : "") +
      bytes("scratch", stage.scratch_bytes) + "\n";
  for (const VariablePlan& variable : stage.variables)
    text += lines(plan, variable, static_cast<std::int32_t>(number));
  if (!stage.prepare.instructions.empty()) text += "  prepare:\n" + lines(stage.prepare);
  text += lines("forward", stage.forward_receives, stage.forward, stage.forward_sends);
  text += lines("backward", stage.backward_receives, stage.backward, stage.backward_sends);
  for (const OutputPlan& output : stage.outputs)
    text += "  output " + plan.outputs[index(output.output)].name + ": " +
            to_string(output.source) + "\n";
  return text;
}

}  // namespace

std::string dump(const Graph& graph) {
  std::string text = "model \"" + graph.name + "\"\n";
  for (const ValueId input : graph.inputs) text += "input " + typed(graph, input) + "\n";
  for (const Variable& variable : graph.variables)
    text += std::string(to_string(graph.value(variable.value).kind)) + " " +
            typed(graph, variable.value) + "\n";
  for (const Node& node : graph.nodes) text += line(graph, node);
  for (const Output& output : graph.outputs)
    text += "output " + output.name + " = " + graph.value(output.value).name + "\n";
  if (graph.loss != none) text += "loss " + graph.value(graph.loss).name + "\n";
  return text;
}

std::string dump(const Plan& plan) {
  std::string text = "plan \"" + plan.name + "\": " + (plan.training ? "training" : "inference") +
                     ", micro-batches of " + std::to_string(plan.batch) + ", schedule " +
                     std::string(plan.schedule->name) + "\n";
  for (std::size_t i = 0; i < plan.edges.size(); ++i)
    text += "edge " + std::to_string(i) + ": " + line(plan.edges[i]);
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) text += lines(plan, stage);
  return text;
}

}  // namespace penstock::graph
