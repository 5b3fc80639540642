#include "graph/ops/arithmetic/linear.hpp"

#include "graph/kernels/eigen.hpp"
#include "graph/ops/arithmetic/channel_sum.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

Cost product_cost(std::int64_t n, std::int64_t m, std::int64_t k) {
  const auto cells = static_cast<double>(n * k + m * k + n * m);
  return {.flops = 2.0 * static_cast<double>(n * m) * static_cast<double>(k), .bytes = 4 * cells};
}

std::vector<TensorType> infer(const Attributes&, Types in) {
  expect_inputs(in, in.size() == 2 ? 2 : 3, "x, weight, bias");
  expect_dtype(in[0], DType::f32, "x");
  expect_rank(in[0], 2, "x");
  expect_dtype(in[1], DType::f32, "weight");
  expect_rank(in[1], 2, "weight");
  expect(in[0].shape[1] == in[1].shape[1], "expected " + std::to_string(in[1].shape[1]) +
                                               " input features, got " +
                                               std::to_string(in[0].shape[1]));
  if (in.size() == 3) {
    expect_dtype(in[2], DType::f32, "bias");
    expect_shape(in[2], {in[1].shape[0]}, "bias");
  }
  return {{DType::f32, {in[0].shape[0], in[1].shape[0]}}};
}

void forward(const KernelCall& call) {
  const auto n = call.inputs[0].shape()[0], k = call.inputs[0].shape()[1];
  const auto m = call.inputs[1].shape()[0];
  auto y = matrix(call.outputs[0], n, m);
  y.noalias() = matrix(call.inputs[0], n, k) * matrix(call.inputs[1], m, k).transpose();
  if (call.inputs.size() == 3) y.rowwise() += matrix(call.inputs[2], 1, m).row(0);
}

void backward(GradientContext& context) {
  const ValueId x = context.input(0), weight = context.input(1), dy = context.gradient(0);
  if (context.needs(0)) context.set(0, context.emit(linear_input_gradient, {dy, weight}));
  if (context.needs(1)) context.set(1, context.emit(linear_weight_gradient, {x, dy}));
  if (context.input_count() == 3 && context.needs(2))
    context.set(2, context.emit(channel_sum, {dy}));
}

Cost cost(const Attributes&, Types in, Types out) {
  return product_cost(in[0].shape[0], out[0].shape[1], in[0].shape[1]);
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {5, 7}}, weight{DType::f32, {3, 7}}, bias{DType::f32, {3}};
  return {{.inputs = {x, weight, bias}}, {.inputs = {x, weight}}};
}

std::vector<TensorType> infer_input_gradient(const Attributes&, Types in) {
  expect_inputs(in, 2, "dy, weight");
  return {{DType::f32, {in[0].shape[0], in[1].shape[1]}}};
}

void forward_input_gradient(const KernelCall& call) {
  const auto n = call.inputs[0].shape()[0], m = call.inputs[0].shape()[1];
  const auto k = call.inputs[1].shape()[1];
  matrix(call.outputs[0], n, k).noalias() =
      matrix(call.inputs[0], n, m) * matrix(call.inputs[1], m, k);
}

Cost cost_input_gradient(const Attributes&, Types in, Types out) {
  return product_cost(in[0].shape[0], out[0].shape[1], in[0].shape[1]);
}

std::vector<TensorType> infer_weight_gradient(const Attributes&, Types in) {
  expect_inputs(in, 2, "x, dy");
  return {{DType::f32, {in[1].shape[1], in[0].shape[1]}}};
}

void forward_weight_gradient(const KernelCall& call) {
  const auto n = call.inputs[0].shape()[0], k = call.inputs[0].shape()[1];
  const auto m = call.inputs[1].shape()[1];
  matrix(call.outputs[0], m, k).noalias() =
      matrix(call.inputs[1], n, m).transpose() * matrix(call.inputs[0], n, k);
}

Cost cost_weight_gradient(const Attributes&, Types in, Types out) {
  return product_cost(out[0].shape[0], out[0].shape[1], in[0].shape[0]);
}

}  // namespace

const Op linear{.name = "linear",
                .onnx = "Gemm",
                .infer = infer,
                .forward = forward,
                .backward = backward,
                .cost = cost,
                .samples = samples};

const Op linear_input_gradient{.name = "linear_input_gradient",
                               .infer = infer_input_gradient,
                               .forward = forward_input_gradient,
                               .cost = cost_input_gradient};

const Op linear_weight_gradient{.name = "linear_weight_gradient",
                                .infer = infer_weight_gradient,
                                .forward = forward_weight_gradient,
                                .cost = cost_weight_gradient};

}  // namespace penstock::graph
