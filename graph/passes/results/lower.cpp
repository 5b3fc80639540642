#include "graph/passes/results/lower.hpp"

#include <optional>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Values say where each value that a program works on lies.
struct Values {
  const Graph& graph;
  const Placements& placements;
  const ScratchPlaces& scratch;

  Location place_of(ValueId value) const {
    if (const auto& place = scratch.of_value[index(value)]) return *place;
    if (const auto& placement = placements[index(value)]) return placement->home;
    throw Error(Errc::internal, quoted_text(graph.value(value).name) + " has no place");
  }
  bool is_copied(ValueId value) const {
    const auto& placement = placements[index(value)];
    return placement && placement->arrival == Arrival::copied;
  }
};

std::uint64_t random_name(const Graph& graph, const Node& node) {
  return hash_name(node.forward_of == none ? node.name : graph.node(node.forward_of).name);
}

Instruction instruction_of(const Values& values, const Node& node) {
  Instruction instruction{.name = node.name,
                          .name_hash = random_name(values.graph, node),
                          .op = node.op,
                          .attributes = node.attributes,
                          .input_types = types_of(values.graph, node.inputs),
                          .output_types = types_of(values.graph, node.outputs)};
  for (const ValueId input : node.inputs) instruction.inputs.push_back(values.place_of(input));
  for (const ValueId output : node.outputs) instruction.outputs.push_back(values.place_of(output));
  return instruction;
}

void add(Cost& sum, const Cost& cost) {
  sum.flops += cost.flops;
  sum.bytes += cost.bytes;
}

void append(Program& program, Instruction instruction) {
  add(program.cost, cost_of(instruction));
  program.instructions.push_back(std::move(instruction));
}

Instruction copy_of(const Graph& graph, ValueId value, const std::string& suffix,
                    const Location& source, const Location& target) {
  const std::string name = graph.value(value).name + suffix;
  return {.name = name,
          .name_hash = hash_name(name),
          .op = &identity,
          .input_types = {graph.type(value)},
          .output_types = {graph.type(value)},
          .inputs = {source},
          .outputs = {target}};
}

/// Transfers append to a program the instructions that copy values between the IPU and the host
/// store.
class Transfers {
 public:
  Transfers(const Values& values, Program& program)
      : values_(values), program_(program), there_(values.placements.size()) {}

  void before(const Node& node) {
    for (const ValueId input : node.inputs)
      if (values_.is_copied(input) && !there_[index(input)]) add(input, Transfer::load);
  }

  void after(const Node& node) {
    for (const ValueId output : node.outputs)
      if (values_.is_copied(output)) add(output, Transfer::store);
  }

 private:
  void add(ValueId value, Transfer transfer) {
    const Location copy = values_.place_of(value);
    const Location& home = values_.placements[index(value)]->home;
    Instruction instruction = transfer == Transfer::load
                                  ? copy_of(values_.graph, value, "/load", home, copy)
                                  : copy_of(values_.graph, value, "/store", copy, home);
    instruction.transfer = transfer;
    append(program_, std::move(instruction));
    there_[index(value)] = true;
  }

  const Values& values_;
  Program& program_;
  // This says, for each ValueId, whether the IPU has a copy of the value already.
  std::vector<bool> there_;
};

/// A Use says which instruction computes a value, and as which output, how many inputs of the
/// program's nodes the value is, and which instruction reads it last.
struct Use {
  std::optional<std::size_t> maker = {};
  std::size_t output = 0;
  int reads = 0;
  std::size_t reader = 0;
};

std::vector<Use> uses_of(const Graph& graph, std::span<const NodeId> nodes,
                         std::span<const std::size_t> instructions) {
  std::vector<Use> uses(graph.values.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = graph.node(nodes[i]);
    for (const ValueId input : node.inputs) {
      ++uses[index(input)].reads;
      uses[index(input)].reader = instructions[i];
    }
    for (std::size_t output = 0; output < node.outputs.size(); ++output) {
      uses[index(node.outputs[output])].maker = instructions[i];
      uses[index(node.outputs[output])].output = output;
    }
  }
  return uses;
}

/// Lets the instruction that computes a gradient write it where the gradient sum lies in the first
/// micro-batch of a window, so that nothing need be added then. `instructions` has the number of
/// the instruction of each of `nodes`.
void put_first_gradients(const Values& values, std::span<const NodeId> nodes,
                         std::span<const std::size_t> instructions, Program& program) {
  const std::vector<Use> uses = uses_of(values.graph, nodes, instructions);
  for (const ParameterGradient& gradient : values.graph.parameter_gradients) {
    const Use &of_gradient = uses[index(gradient.gradient)], &of_sum = uses[index(gradient.sum)];
    const bool only_added = of_gradient.reads == 1 && of_sum.reads == 1;
    if (!of_gradient.maker || !only_added || of_gradient.reader != of_sum.reader) continue;
    const Location home = values.place_of(gradient.sum);
    if (home.space != Space::accumulators ||
        values.place_of(gradient.gradient).space != Space::scratch)
      continue;
    Instruction& making = program.instructions[*of_gradient.maker];
    if (making.first_outputs.empty()) making.first_outputs = making.outputs;
    making.first_outputs[of_gradient.output] = home;
    program.instructions[of_sum.reader].in_first = false;
  }
}

}  // namespace

Program lower(const Graph& graph, std::span<const NodeId> nodes, const Placements& placements,
              const ScratchPlaces& scratch, std::int32_t threads) {
  Program program;
  const Values values{graph, placements, scratch};
  Transfers transfers(values, program);
  std::vector<std::size_t> instructions;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = graph.node(nodes[i]);
    Instruction instruction = instruction_of(values, node);
    transfers.before(node);
    instruction.workspace_offset = scratch.workspaces[i].offset;
    instruction.workspace_bytes = scratch.workspaces[i].bytes;
    instruction.sharing = share_out(*instruction.op, instruction.attributes,
                                    instruction.input_types, instruction.output_types, threads);
    instruction.recomputed = node.recomputed;
    if (node.recomputed) {
      add(program.recomputed_cost, cost_of(instruction));
      ++program.recomputed;
    }
    instructions.push_back(program.instructions.size());
    append(program, std::move(instruction));
    transfers.after(node);
  }
  put_first_gradients(values, nodes, instructions, program);
  return program;
}

void append_copy(const Graph& graph, ValueId value, const Location& source, const Location& target,
                 Program& program) {
  append(program, copy_of(graph, value, "/copy", source, target));
}

}  // namespace penstock::graph
