#include "graph/ops/norms/layer_norm.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/norms/normalise.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 2 ? 2 : 3, "x, weight, bias");
  expect_dtype(in[0], DType::f32, "x");
  expect_elements(in[0], "x");
  expect_eps(attributes);
  const TensorType statistics{DType::f32, expect_last_axes(in[0], in[1])};
  expect_optional_bias(in, in[1].shape);
  return {in[0], statistics, statistics};
}

void forward(const KernelCall& call) {
  const std::int64_t length = call.inputs[1].elements();
  const Part rows = within(call.part, call.outputs[1].elements());
  const double eps = attribute::norm_eps.of(call.attributes);
  const float* const weight = call.inputs[1].f32().data();
  const float* const bias = call.inputs.size() == 3 ? call.inputs[2].f32().data() : nullptr;
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    const float* const x = call.inputs[0].f32().data() + r * length;
    const auto moments = moments_of(length, x, eps);
    call.outputs[1].f32()[static_cast<std::size_t>(r)] = moments.mean;
    call.outputs[2].f32()[static_cast<std::size_t>(r)] = moments.inverse_std;
    kernel_table().norms.normalise_each(length, moments, weight, bias, x,
                                        call.outputs[0].f32().data() + r * length);
  }
}

void backward(GradientContext& context) {
  const ValueId x = context.input(0), weight = context.input(1), dy = context.gradient(0);
  const ValueId mean = context.output(1), inverse_std = context.output(2);
  if (context.needs(0))
    context.set(0, context.emit(layer_norm_input_gradient, {dy, x, mean, inverse_std, weight}));
  const bool has_bias = context.input_count() == 3;
  if (!context.needs(1) && !(has_bias && context.needs(2))) return;
  const auto gradients = context.emit_all(layer_norm_weight_gradient, {dy, x, mean, inverse_std});
  context.set(1, gradients[0]);
  if (has_bias) context.set(2, gradients[1]);
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {2, 3, 4, 5}}, last{DType::f32, {5}}, two{DType::f32, {4, 5}};
  return {{.inputs = {x, last, last}}, {.inputs = {x, two, two}}, {.inputs = {x, two}}};
}

std::vector<TensorType> infer_input_gradient(const Attributes&, Types in) {
  expect_inputs(in, 5, "dy, x, mean, inverse_std, weight");
  expect_shape(in[1], in[0].shape, "x");
  return {in[0]};
}

void forward_input_gradient(const KernelCall& call) {
  const std::int64_t length = call.inputs[4].elements();
  const Part rows = within(call.part, call.inputs[2].elements());
  const NormKernels& norms = kernel_table().norms;
  const float* const weight = call.inputs[4].f32().data();
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    const float* const dy = call.inputs[0].f32().data() + r * length;
    const float* const x = call.inputs[1].f32().data() + r * length;
    const auto moments = stored_moments(call.inputs[2], call.inputs[3], r);
    const auto means = scaled(norms.gradient_sums_each(length, moments, weight, dy, x),
                              1.0 / static_cast<double>(length));
    norms.input_gradient_each(length, moments, weight, means, dy, x,
                              call.outputs[0].f32().data() + r * length);
  }
}

std::vector<TensorType> infer_weight_gradient(const Attributes&, Types in) {
  expect_inputs(in, 4, "dy, x, mean, inverse_std");
  const auto x = in[1].shape.dims();
  const TensorType weight{DType::f32, Shape(x.subspan(in[2].shape.rank()))};
  return {weight, weight};
}

Moments moments_of_row(const KernelCall& call, std::int64_t row) {
  return stored_moments(call.inputs[2], call.inputs[3], row);
}

void forward_weight_gradient(const KernelCall& call) {
  const std::int64_t length = call.outputs[0].elements();
  const auto [first, count] = ElementRange(call, length);
  sum_weight_gradient(call, length, first, count, moments_of_row);
  const WeightSums sums(count);
  const double* const workspace = doubles(call.workspace);
  const auto round = kernel_table().reductions.round;
  round(count, workspace + sums.scales, call.outputs[0].f32().data() + first);
  round(count, workspace + sums.shifts, call.outputs[1].f32().data() + first);
}

}  // namespace

const Op layer_norm{.name = "layer_norm",
                    .onnx = "LayerNormalization",
                    .attributes = {attribute::norm_eps},
                    .infer = infer,
                    .forward = forward,
                    .backward = backward,
                    .cost = streaming_cost<7>,
                    .units = forward_row_units,
                    .overwrites = {{0, 0}},
                    .samples = samples};

const Op layer_norm_input_gradient{.name = "layer_norm_input_gradient",
                                   .infer = infer_input_gradient,
                                   .forward = forward_input_gradient,
                                   .cost = streaming_cost<12>,
                                   .units = gradient_row_units,
                                   .overwrites = {{0, 0}, {1, 0}}};

const Op layer_norm_weight_gradient{.name = "layer_norm_weight_gradient",
                                    .infer = infer_weight_gradient,
                                    .forward = forward_weight_gradient,
                                    .cost = streaming_cost<5>,
                                    .workspace = weight_gradient_workspace,
                                    .units = element_units};

}  // namespace penstock::graph
