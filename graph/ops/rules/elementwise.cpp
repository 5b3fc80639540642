#include "graph/ops/rules/elementwise.hpp"

#include <cstring>

#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

std::vector<TensorType> infer_unary(const Attributes&, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  return {in[0]};
}

std::vector<TensorType> infer_unary_gradient(const Attributes&, Types in) {
  expect_inputs(in, 2, "x or y, dy");
  expect_dtype(in[1], DType::f32, "dy");
  expect_shape(in[1], in[0].shape, "dy");
  return {in[0]};
}

Op elementwise(Op op) {
  if (op.infer == nullptr) op.infer = infer_unary;
  op.units = element_units;
  op.overwrites = {{0, 0}};
  op.lane_use = follow_lanes;
  return op;
}

Op elementwise_gradient(Op op) {
  if (op.infer == nullptr) op.infer = infer_unary_gradient;
  op.units = element_units;
  op.overwrites = {{1, 0}, {0, 0}};
  return op;
}

void copy(const Operand& from, const Operand& to) {
  if (from.data != to.data && to.type->bytes() > 0)
    std::memcpy(to.data, from.data, static_cast<std::size_t>(to.type->bytes()));
}

void forward_copy(const KernelCall& call) {
  copy(call.inputs[0], call.outputs[0]);
}

LaneUse follow_lanes(const Attributes&, Types) {
  return LaneUse::follows;
}

}  // namespace penstock::graph
