#include "graph/passes/plan/lower.hpp"

#include "graph/ir/op.hpp"
#include "graph/ops/movement/identity.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

Location place_of(const Graph& graph, const Places& places, ValueId value) {
  if (const auto& place = places.of_value[index(value)]) return *place;
  throw Error(Errc::internal, "\"" + graph.value(value).name + "\" has no place");
}

std::uint64_t random_name(const Graph& graph, const Node& node) {
  return hash_name(node.forward_of == none ? node.name : graph.node(node.forward_of).name);
}

Instruction instruction_of(const Graph& graph, const Node& node, const Places& places) {
  Instruction instruction{.name = node.name,
                          .name_hash = random_name(graph, node),
                          .op = node.op,
                          .attributes = node.attributes};
  for (const ValueId input : node.inputs) {
    instruction.input_types.push_back(graph.type(input));
    instruction.inputs.push_back(place_of(graph, places, input));
  }
  for (const ValueId output : node.outputs) {
    instruction.output_types.push_back(graph.type(output));
    instruction.outputs.push_back(place_of(graph, places, output));
  }
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

/// The copies of a program between the IPU and the host store.
class Transfers {
 public:
  Transfers(const Graph& graph, const Places& places, Program& program)
      : graph_(graph), places_(places), program_(program), there_(places.on_host.size()) {}

  void before(const Node& node) {
    for (const ValueId input : node.inputs)
      if (is_on_host(input) && !there_[index(input)]) add(input, Transfer::load);
  }

  void after(const Node& node) {
    for (const ValueId output : node.outputs)
      if (is_on_host(output)) add(output, Transfer::store);
  }

 private:
  bool is_on_host(ValueId value) const {
    return !there_.empty() && places_.on_host[index(value)].has_value();
  }

  void add(ValueId value, Transfer transfer) {
    const Location on_ipu = place_of(graph_, places_, value);
    const Location on_host = *places_.on_host[index(value)];
    Instruction copy = transfer == Transfer::load
                           ? copy_of(graph_, value, "/load", on_host, on_ipu)
                           : copy_of(graph_, value, "/store", on_ipu, on_host);
    copy.transfer = transfer;
    append(program_, std::move(copy));
    there_[index(value)] = true;
  }

  const Graph& graph_;
  const Places& places_;
  Program& program_;
  std::vector<bool> there_;  // by ValueId: on the IPU
};

}  // namespace

Program lower(const Graph& graph, std::span<const NodeId> nodes, const Places& places) {
  Program program;
  Transfers transfers(graph, places, program);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Instruction instruction = instruction_of(graph, graph.node(nodes[i]), places);
    transfers.before(graph.node(nodes[i]));
    instruction.workspace_offset = places.workspace_offsets[i];
    instruction.workspace_bytes = places.workspace_bytes[i];
    instruction.sharing =
        share_out(*instruction.op, instruction.attributes, instruction.input_types,
                  instruction.output_types, places.threads);
    if (graph.node(nodes[i]).recomputed) {
      add(program.recomputed_cost, cost_of(instruction));
      ++program.recomputed;
    }
    append(program, std::move(instruction));
    transfers.after(graph.node(nodes[i]));
  }
  return program;
}

void append_copy(const Graph& graph, ValueId value, const Location& source, const Location& target,
                 Program& program) {
  append(program, copy_of(graph, value, "/copy", source, target));
}

}  // namespace penstock::graph
