#include "graph/ops/norms/layer_norm.hpp"

#include <algorithm>

#include "graph/kernels/normalise.hpp"
#include "graph/kernels/sums.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

using kernels::Run;

std::vector<TensorType> infer(const Attributes&, Types in) {
  expect_inputs(in, in.size() == 2 ? 2 : 3, "x, weight, bias");
  expect_dtype(in[0], DType::f32, "x");
  expect_dtype(in[1], DType::f32, "weight");
  const auto x = in[0].shape.dims(), weight = in[1].shape.dims();
  expect(!weight.empty() && weight.size() <= x.size() &&
             std::equal(weight.rbegin(), weight.rend(), x.rbegin()),
         "expected weight of the shape of x's last axes, got " + to_string(in[1].shape) +
             " for x " + to_string(in[0].shape));
  if (in.size() == 3) {
    expect_dtype(in[2], DType::f32, "bias");
    expect_shape(in[2], in[1].shape, "bias");
  }
  const TensorType statistics{DType::f32, Shape(x.first(x.size() - weight.size()))};
  return {in[0], statistics, statistics};
}

void forward(const KernelCall& call) {
  const std::int64_t length = call.inputs[1].elements(), rows = call.outputs[1].elements();
  const double eps = call.attributes.real("eps", 1e-5);
  const Run weight = kernels::run(call.inputs[1], 0, length);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Run x = kernels::run(call.inputs[0], r * length, length);
    Run y = kernels::run(call.outputs[0], r * length, length);
    const auto moments = kernels::moments(x, eps);
    call.outputs[1].f32()[static_cast<std::size_t>(r)] = moments.mean;
    call.outputs[2].f32()[static_cast<std::size_t>(r)] = moments.inverse_std;
    y = (x - moments.mean) * moments.inverse_std * weight;
    if (call.inputs.size() == 3) y += kernels::run(call.inputs[2], 0, length);
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
  const std::int64_t length = call.inputs[4].elements(), rows = call.inputs[2].elements();
  const Run weight = kernels::run(call.inputs[4], 0, length);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Run dy = kernels::run(call.inputs[0], r * length, length);
    const Run x = kernels::run(call.inputs[1], r * length, length);
    const auto [mean, inverse_std] = kernels::stored_moments(call.inputs[2], call.inputs[3], r);
    const auto sum = static_cast<float>(kernels::long_sum(dy * weight));
    const auto dot = static_cast<float>(kernels::long_sum(dy * weight * (x - mean)) * inverse_std);
    const float share = inverse_std / static_cast<float>(length);
    kernels::run(call.outputs[0], r * length, length) =
        dy * weight * inverse_std - (x - mean) * (dot * inverse_std * share) - sum * share;
  }
}

std::vector<TensorType> infer_weight_gradient(const Attributes&, Types in) {
  expect_inputs(in, 4, "dy, x, mean, inverse_std");
  const auto x = in[1].shape.dims();
  const TensorType weight{DType::f32, Shape(x.subspan(in[2].shape.rank()))};
  return {weight, weight};
}

/// A double for each element of both results.
std::int64_t weight_gradient_workspace(const Attributes&, Types, Types out) {
  return 2 * out[0].shape.elements() * static_cast<std::int64_t>(sizeof(double));
}

void forward_weight_gradient(const KernelCall& call) {
  const auto length = static_cast<std::size_t>(call.outputs[0].elements());
  double* scales = reinterpret_cast<double*>(call.workspace.data());
  double* shifts = scales + length;
  std::fill(scales, shifts + length, 0.0);
  for (std::int64_t r = 0; r < call.inputs[2].elements(); ++r) {
    const auto [mean, inverse_std] = kernels::stored_moments(call.inputs[2], call.inputs[3], r);
    const float* dy = call.inputs[0].f32().data() + static_cast<std::size_t>(r) * length;
    const float* x = call.inputs[1].f32().data() + static_cast<std::size_t>(r) * length;
    for (std::size_t i = 0; i < length; ++i) {
      scales[i] += dy[i] * ((x[i] - mean) * inverse_std);
      shifts[i] += dy[i];
    }
  }
  const auto to_float = [](double sum) { return static_cast<float>(sum); };
  std::transform(scales, scales + length, call.outputs[0].f32().begin(), to_float);
  std::transform(shifts, shifts + length, call.outputs[1].f32().begin(), to_float);
}

}  // namespace

const Op layer_norm{.name = "layer_norm",
                    .onnx = "LayerNormalization",
                    .infer = infer,
                    .forward = forward,
                    .backward = backward,
                    .cost = streaming_cost<7>,
                    .overwrites = {{0, 0}},
                    .samples = samples};

const Op layer_norm_input_gradient{.name = "layer_norm_input_gradient",
                                   .infer = infer_input_gradient,
                                   .forward = forward_input_gradient,
                                   .cost = streaming_cost<12>,
                                   .overwrites = {{0, 0}, {1, 0}}};

const Op layer_norm_weight_gradient{.name = "layer_norm_weight_gradient",
                                    .infer = infer_weight_gradient,
                                    .forward = forward_weight_gradient,
                                    .cost = streaming_cost<5>,
                                    .workspace = weight_gradient_workspace};

}  // namespace penstock::graph
