#include "graph/ops/norms/batch_norm2d_inference.hpp"

#include <cmath>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/norms/channels.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {
namespace {

float inverse_std(const KernelCall& call, const Operand& variance, std::size_t channel) {
  const double eps = attribute::norm_eps.of(call.attributes);
  return static_cast<float>(1 / std::sqrt(variance.f32()[channel] + eps));
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 5, "x, weight, bias, running_mean, running_var");
  expect_dtype(in[0], DType::f32, "x");
  expect_rank(in[0], 4, "x");
  expect_elements(in[0], "x");
  expect_eps(attributes);
  constexpr const char* names[] = {"x", "weight", "bias", "running_mean", "running_var"};
  for (std::size_t i = 1; i < in.size(); ++i) {
    expect_dtype(in[i], DType::f32, names[i]);
    expect_shape(in[i], {in[0].shape[1]}, names[i]);
  }
  return {in[0]};
}

void forward(const KernelCall& call) {
  const Channels x(call.inputs[0]), y(call.outputs[0]);
  const Part channels = within(call.part, x.channels());
  for (std::int64_t channel = channels.begin; channel < channels.end; ++channel) {
    const auto c = static_cast<std::size_t>(channel);
    const Moments moments{call.inputs[3].f32()[c], inverse_std(call, call.inputs[4], c)};
    x.for_each_run(channel, [&](std::int64_t n, const float* run) {
      kernel_table().norms.normalise(x.length(), moments, call.inputs[1].f32()[c],
                                     call.inputs[2].f32()[c], run, y.run(n, channel));
    });
  }
}

void backward(GradientContext& context) {
  const ValueId dy = context.gradient(0), x = context.input(0);
  const ValueId mean = context.input(3), variance = context.input(4);
  if (context.needs(0))
    context.set(0, context.emit(batch_norm2d_inference_input_gradient,
                                {dy, context.input(1), variance}, context.attributes()));
  if (!context.needs(1) && !context.needs(2)) return;
  const auto gradients = context.emit_all(batch_norm2d_inference_weight_gradient,
                                          {dy, x, mean, variance}, context.attributes());
  context.set(1, gradients[0]);
  context.set(2, gradients[1]);
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {3, 4, 2, 5}}, c{DType::f32, {4}};
  return {{.inputs = {x, c, c, c, c}, .low = 0.5, .high = 2, .constants = {3, 4}}};
}

std::vector<TensorType> infer_input_gradient(const Attributes&, Types in) {
  expect_inputs(in, 3, "dy, weight, running_var");
  return {in[0]};
}

void forward_input_gradient(const KernelCall& call) {
  const Channels dy(call.inputs[0]), dx(call.outputs[0]);
  const Part channels = within(call.part, dy.channels());
  for (std::int64_t channel = channels.begin; channel < channels.end; ++channel) {
    const auto c = static_cast<std::size_t>(channel);
    const float slope = call.inputs[1].f32()[c] * inverse_std(call, call.inputs[2], c);
    dy.for_each_run(channel, [&](std::int64_t n, const float* run) {
      kernel_table().arithmetic.scale(dy.length(), slope, run, dx.run(n, channel));
    });
  }
}

std::vector<TensorType> infer_weight_gradient(const Attributes&, Types in) {
  expect_inputs(in, 4, "dy, x, running_mean, running_var");
  return {in[2], in[2]};
}

void forward_weight_gradient(const KernelCall& call) {
  const Channels dy(call.inputs[0]), x(call.inputs[1]);
  const Part channels = within(call.part, x.channels());
  for (std::int64_t channel = channels.begin; channel < channels.end; ++channel) {
    const auto c = static_cast<std::size_t>(channel);
    const Moments moments{call.inputs[2].f32()[c], inverse_std(call, call.inputs[3], c)};
    const auto sums = channel_gradient_sums(dy, x, channel, moments);
    call.outputs[0].f32()[c] = static_cast<float>(sums.dy_x);
    call.outputs[1].f32()[c] = static_cast<float>(sums.dy);
  }
}

}  // namespace

const Op batch_norm2d_inference{.name = "batch_norm2d_inference",
                                .onnx = "BatchNormalization",
                                .attributes = {attribute::norm_eps},
                                .infer = infer,
                                .forward = forward,
                                .backward = backward,
                                .cost = streaming_cost<4>,
                                .units = axis_units<1>,
                                .overwrites = {{0, 0}},
                                .samples = samples};

const Op batch_norm2d_inference_input_gradient{.name = "batch_norm2d_inference_input_gradient",
                                               .attributes = {attribute::norm_eps},
                                               .infer = infer_input_gradient,
                                               .forward = forward_input_gradient,
                                               .cost = streaming_cost<1>,
                                               .units = axis_units<1>,
                                               .overwrites = {{0, 0}}};

const Op batch_norm2d_inference_weight_gradient{.name = "batch_norm2d_inference_weight_gradient",
                                                .attributes = {attribute::norm_eps},
                                                .infer = infer_weight_gradient,
                                                .forward = forward_weight_gradient,
                                                .cost = streaming_cost<4>,
                                                .units = axis_units<0>};

}  // namespace penstock::graph
