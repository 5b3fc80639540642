#include "graph/program.hpp"

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "engine/values/memory.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

std::byte* base_of(const Location& location, const Bindings& bindings) {
  const auto index = static_cast<std::size_t>(location.index);
  switch (location.space) {
    case Space::parameters:
      return bindings.parameters;
    case Space::accumulators:
      return bindings.accumulators;
    case Space::stash:
      return bindings.stash;
    case Space::scratch:
      return bindings.scratch;
    case Space::received:
      return const_cast<std::byte*>(bindings.received[index]);
    case Space::sent_back:
      return bindings.sent_back[index];
  }
  return nullptr;
}

/// Fills `operands`, which keeps its memory from one call to the next.
void bind(const std::vector<TensorType>& types, const std::vector<Location>& locations,
          const Bindings& bindings, std::vector<Operand>& operands) {
  operands.resize(types.size());
  for (std::size_t i = 0; i < types.size(); ++i)
    operands[i] = {&types[i], base_of(locations[i], bindings) + locations[i].offset};
}

[[noreturn]] void rethrow(const Instruction& instruction, Errc code, const char* text) {
  throw Error(code, std::string(instruction.op->name) + " \"" + instruction.name + "\": " + text);
}

std::span<std::byte> workspace_of(const Instruction& instruction, const Bindings& bindings,
                                  std::int32_t part) {
  return {
      bindings.scratch + instruction.workspace_offset + part * aligned(instruction.workspace_bytes),
      static_cast<std::size_t>(instruction.workspace_bytes)};
}

void run_parts(const Instruction& instruction, const KernelCall& whole, const Bindings& bindings) {
  const auto work = [&](std::int32_t part) {
    KernelCall call = whole;
    call.workspace = workspace_of(instruction, bindings, part);
    call.part = part_of(instruction.sharing, part);
    instruction.op->forward(call);
  };
  if (bindings.runner) return bindings.runner->run(instruction.sharing.parts, std::ref(work));
  for (std::int32_t part = 0; part < instruction.sharing.parts; ++part) work(part);
}

}  // namespace

void run(const Instruction& instruction, const Bindings& bindings) {
  thread_local std::vector<Operand> inputs, outputs;
  bind(instruction.input_types, instruction.inputs, bindings, inputs);
  bind(instruction.output_types, instruction.outputs, bindings, outputs);
  RandomKey random = bindings.random;
  random.name = instruction.name_hash;
  const KernelCall call{
      instruction.attributes, inputs, outputs, workspace_of(instruction, bindings, 0), random,
      bindings.loss_scale};
  try {
    if (instruction.sharing.parts > 1)
      run_parts(instruction, call, bindings);
    else
      instruction.op->forward(call);
  } catch (const Error& error) {
    rethrow(instruction, error.code(), error.what());
  } catch (const std::exception& error) {
    rethrow(instruction, Errc::internal, error.what());
  }
}

void run(const Program& program, const Bindings& bindings) {
  for (const Instruction& instruction : program.instructions) run(instruction, bindings);
}

}  // namespace penstock::graph
