#include "benchmarks/ops/op_call.hpp"

#include "graph/ops/list.hpp"
#include "graph/values/memory.hpp"

namespace penstock::benchmarks {
namespace {

/// Fills `input` with 0, 1, 2 and 3, drawn by a generator of random numbers.
void draw(const graph::Operand& input) {
  std::uint32_t state = 1;
  for (float& value : input.f32())
    value = static_cast<float>((state = state * 1664525 + 1013904223) >> 30);
}

std::int64_t bytes_of(const std::vector<graph::TensorType>& types) {
  std::int64_t bytes = 0;
  for (const graph::TensorType& type : types) bytes += type.bytes();
  return bytes;
}

}  // namespace

OpCall::OpCall(const OpCase& item)
    : op_(graph::find_op(item.op)),
      attributes_(item.attributes),
      in_types_(item.inputs),
      out_types_(op_.infer(attributes_, in_types_)) {
  for (const graph::TensorType& type : in_types_) inputs_.push_back(operand(type));
  for (const graph::TensorType& type : out_types_) outputs_.push_back(operand(type));
  if (op_.workspace) workspace_ = memory(op_.workspace(attributes_, in_types_, out_types_));
  for (const graph::Operand& input : inputs_) draw(input);
}

std::vector<float> OpCall::result() const {
  const std::span<const float> values = outputs_.front().f32();
  return {values.begin(), values.end()};
}

bool OpCall::writes_most() const {
  return bytes_of(out_types_) > bytes_of(in_types_);
}

std::span<std::byte> OpCall::memory(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  blocks_.push_back(allocate_block(size));
  return {blocks_.back().get(), size};
}

graph::Operand OpCall::operand(const graph::TensorType& type) {
  return {&type, memory(type.bytes()).data()};
}

}  // namespace penstock::benchmarks
