#include "tests/support/op_call.hpp"

#include <cstring>
#include <stdexcept>
#include <string>

#include "tests/support/watched_block.hpp"

namespace penstock::testing {
namespace {

using graph::Operand;
using graph::TensorType;

std::int64_t workspace_bytes(const OpCall& call, graph::Types in, graph::Types out) {
  return call.op->workspace ? call.op->workspace(call.attributes, in, out) : 0;
}

void refuse(const OpCall& call, const std::string& what) {
  throw std::logic_error(std::string(call.op->name) + " " + what);
}

void check_borders(const OpCall& call, const std::vector<WatchedBlock>& inputs,
                   const std::vector<WatchedBlock>& outputs, const CallMemory& memory) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool overwritten =
        memory.in_place && static_cast<std::size_t>(memory.in_place->input) == i;
    const Tensor& before = call.inputs[i];
    if (!overwritten && std::memcmp(inputs[i].bytes().data(), before.raw(), before.bytes()) != 0)
      refuse(call, "changed input " + std::to_string(i));
    if (!inputs[i].border_intact()) refuse(call, "wrote past input " + std::to_string(i));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].border_intact()) refuse(call, "wrote past output " + std::to_string(i));
}

std::vector<Operand> operands(const std::vector<TensorType>& types,
                              const std::vector<WatchedBlock>& blocks) {
  std::vector<Operand> result;
  for (std::size_t i = 0; i < types.size(); ++i)
    result.push_back({&types[i], blocks[i].bytes().data()});
  return result;
}

}  // namespace

std::vector<TensorType> input_types(const OpCall& call) {
  std::vector<TensorType> types;
  for (const Tensor& input : call.inputs) types.push_back({input.dtype(), input.shape()});
  return types;
}

std::vector<TensorType> output_types(const OpCall& call) {
  return call.op->infer(call.attributes, input_types(call));
}

std::int64_t units_of(const OpCall& call) {
  return call.op->units ? call.op->units(call.attributes, input_types(call), output_types(call))
                        : 1;
}

std::vector<Tensor> run(const OpCall& call, const CallMemory& memory) {
  const auto in_types = input_types(call), out_types = output_types(call);
  std::vector<WatchedBlock> inputs, outputs;
  for (const Tensor& input : call.inputs)
    inputs.push_back(WatchedBlock::copy_of(input, memory.poison));
  for (const TensorType& type : out_types) outputs.emplace_back(type.bytes(), memory.poison);
  if (memory.in_place)
    outputs[static_cast<std::size_t>(memory.in_place->output)] =
        inputs[static_cast<std::size_t>(memory.in_place->input)];

  const auto in = operands(in_types, inputs), out = operands(out_types, outputs);
  for (const graph::Part& part : memory.parts) {
    const WatchedBlock workspace(workspace_bytes(call, in_types, out_types), memory.poison);
    call.op->forward({.attributes = call.attributes,
                      .inputs = in,
                      .outputs = out,
                      .workspace = workspace.bytes(),
                      .random = call.random,
                      .part = part});
    if (!workspace.border_intact()) refuse(call, "wrote past its workspace");
  }

  check_borders(call, inputs, outputs, memory);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < out_types.size(); ++i)
    results.push_back(Tensor::wrap(out_types[i].dtype, out_types[i].shape, outputs[i].block()));
  return results;
}

}  // namespace penstock::testing
