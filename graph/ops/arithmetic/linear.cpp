#include "graph/ops/arithmetic/linear.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/kernels/products/units.hpp"
#include "graph/kernels/products/workspace.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/sums.hpp"
#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

Cost product_cost(std::int64_t n, std::int64_t m, std::int64_t k) {
  const auto cells = static_cast<double>(n * k + m * k + n * m);
  return {.flops = 2.0 * static_cast<double>(n * m) * static_cast<double>(k), .bytes = 4 * cells};
}

void multiply(const KernelCall& call, const Product& product) {
  kernel_table().products.multiply(product, call.part, floats(call.workspace));
}

/// Serves as Op::units: returns the number of units of the product that output 0 is, seen as a
/// matrix of rows along the last axis.
std::int64_t units(const Attributes&, Types, Types out) {
  return product_units(rows_of(out[0].shape), out[0].shape[-1]);
}

std::vector<TensorType> infer(const Attributes&, Types in) {
  expect_inputs(in, in.size() == 2 ? 2 : 3, "x, weight, bias");
  expect_dtype(in[0], DType::f32, "x");
  expect_rank_from(in[0], 2, "x");
  expect_dtype(in[1], DType::f32, "weight");
  expect_rank(in[1], 2, "weight");
  expect_elements(in[1], "weight");
  expect(in[0].shape[-1] == in[1].shape[1], "expected " + std::to_string(in[1].shape[1]) +
                                                " input features, got " +
                                                std::to_string(in[0].shape[-1]));
  expect_optional_bias(in, {in[1].shape[0]});
  return {{DType::f32, in[0].shape.with(-1, in[1].shape[0])}};
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &weight = call.inputs[1], &y = call.outputs[0];
  const std::int64_t k = x.shape()[-1];
  multiply(call, {.rows = rows_of(y.shape()),
                  .columns = y.shape()[-1],
                  .depth = k,
                  .left = {x.f32().data(), k, 1},
                  .right = {weight.f32().data(), 1, k},
                  .bias = call.inputs.size() == 3 ? call.inputs[2].f32().data() : nullptr,
                  .relu = attribute::relu.of(call.attributes),
                  .result = y.f32().data()});
}

std::int64_t workspace(const Attributes&, Types in, Types out) {
  return float_bytes * product_floats(rows_of(out[0].shape), out[0].shape[-1], in[0].shape[-1]);
}

void backward(GradientContext& context) {
  const ValueId x = context.input(0), weight = context.input(1), dy = gradient_before_relu(context);
  if (context.needs(0)) context.set(0, context.emit(linear_input_gradient, {dy, weight}));
  if (context.needs(1)) context.set(1, context.emit(linear_weight_gradient, {x, dy}));
  if (context.input_count() == 3 && context.needs(2))
    context.set(2, context.emit(channel_sum, {dy}, {{"axis", std::int64_t{-1}}}));
}

Cost cost(const Attributes&, Types in, Types out) {
  return product_cost(rows_of(in[0].shape), out[0].shape[-1], in[0].shape[-1]);
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {5, 7}}, weight{DType::f32, {3, 7}}, bias{DType::f32, {3}};
  const TensorType sequences{DType::f32, {2, 4, 7}}, deep{DType::f32, {2, 1, 3, 7}};
  return {{.inputs = {x, weight, bias}},
          {.inputs = {x, weight}},
          {.inputs = {sequences, weight, bias}},
          {.inputs = {deep, weight}},
          {.inputs = {x, weight, bias},
           .attributes = {{"relu", 1}},
           // The inputs are positive, so that no sum is near 0, where relu has its kink.
           .low = 0.1}};
}

std::vector<TensorType> infer_input_gradient(const Attributes&, Types in) {
  expect_inputs(in, 2, "dy, weight");
  return {{DType::f32, in[0].shape.with(-1, in[1].shape[1])}};
}

void forward_input_gradient(const KernelCall& call) {
  const Operand &dy = call.inputs[0], &weight = call.inputs[1], &dx = call.outputs[0];
  const std::int64_t m = dy.shape()[-1], k = dx.shape()[-1];
  multiply(call, {.rows = rows_of(dx.shape()),
                  .columns = k,
                  .depth = m,
                  .left = {dy.f32().data(), m, 1},
                  .right = {weight.f32().data(), k, 1},
                  .result = dx.f32().data()});
}

Cost cost_input_gradient(const Attributes&, Types in, Types out) {
  return product_cost(rows_of(in[0].shape), out[0].shape[-1], in[0].shape[-1]);
}

std::vector<TensorType> infer_weight_gradient(const Attributes&, Types in) {
  expect_inputs(in, 2, "x, dy");
  return {{DType::f32, {in[1].shape[-1], in[0].shape[-1]}}};
}

void forward_weight_gradient(const KernelCall& call) {
  const Operand &x = call.inputs[0], &dy = call.inputs[1], &dweight = call.outputs[0];
  const std::int64_t m = dweight.shape()[0], k = dweight.shape()[1];
  multiply(call, {.rows = m,
                  .columns = k,
                  .depth = rows_of(x.shape()),
                  .left = {dy.f32().data(), 1, m},
                  .right = {x.f32().data(), k, 1},
                  .result = dweight.f32().data()});
}

std::int64_t workspace_weight_gradient(const Attributes&, Types in, Types out) {
  return float_bytes * product_floats(out[0].shape[0], out[0].shape[1], rows_of(in[0].shape));
}

Cost cost_weight_gradient(const Attributes&, Types in, Types out) {
  return product_cost(out[0].shape[0], out[0].shape[1], rows_of(in[0].shape));
}

}  // namespace

const Op linear{.name = "linear",
                .onnx = "Gemm",
                .attributes = {attribute::relu},
                .infer = infer,
                .forward = forward,
                .backward = backward,
                .cost = cost,
                .workspace = workspace,
                .units = units,
                .samples = samples,
                .relu_flag = &attribute::relu};

const Op linear_input_gradient{.name = "linear_input_gradient",
                               .infer = infer_input_gradient,
                               .forward = forward_input_gradient,
                               .cost = cost_input_gradient,
                               .workspace = workspace,
                               .units = units};

const Op linear_weight_gradient{.name = "linear_weight_gradient",
                                .infer = infer_weight_gradient,
                                .forward = forward_weight_gradient,
                                .cost = cost_weight_gradient,
                                .workspace = workspace_weight_gradient,
                                .units = units};

}  // namespace penstock::graph
