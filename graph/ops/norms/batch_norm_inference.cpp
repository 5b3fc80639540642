#include "graph/ops/norms/batch_norm_inference.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/norms/channels.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {
namespace {

Moments running(const KernelCall& call, std::size_t channel) {
  return {call.inputs[2].f32()[channel], inverse_std(call, call.inputs[3].f32()[channel])};
}

std::vector<TensorType> infer_running(const Attributes& attributes, Types in) {
  expect_inputs(in, 5, "x, weight, bias, running_mean, running_var");
  expect_channels(attributes, in);
  return {in[0]};
}

void forward_running(const KernelCall& call) {
  const Channels x(call.inputs[0]);
  for_each_channel(call, x, [&](std::int64_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    normalise_channel(call, channel, channel_of(x, channel, floats(call.workspace)),
                      {call.inputs[3].f32()[c], inverse_std(call, call.inputs[4].f32()[c])});
  });
}

void backward_running(GradientContext& context) {
  const ValueId dy = context.gradient(0), x = context.input(0);
  const ValueId mean = context.input(3), variance = context.input(4);
  if (context.needs(0))
    context.set(0, context.emit(batch_norm_inference_input_gradient,
                                {dy, context.input(1), variance}, context.attributes()));
  if (!context.needs(1) && !context.needs(2)) return;
  const auto gradients = context.emit_all(batch_norm_inference_weight_gradient,
                                          {dy, x, mean, variance}, context.attributes());
  context.set(1, gradients[0]);
  context.set(2, gradients[1]);
}

std::vector<OpSample> running_samples() {
  const TensorType x{DType::f32, {3, 4, 2, 5}}, c{DType::f32, {4}};
  return {
      {.inputs = {x, c, c, c, c}, .low = 0.5, .high = 2, .constants = {3, 4}},
      {.inputs = {{DType::f32, {7, 4}}, c, c, c, c}, .low = 0.5, .high = 2, .constants = {3, 4}}};
}

std::vector<TensorType> infer_running_input_gradient(const Attributes&, Types in) {
  expect_inputs(in, 3, "dy, weight, running_var");
  return {in[0]};
}

void forward_running_input_gradient(const KernelCall& call) {
  const Channels dy(call.inputs[0]), dx(call.outputs[0]);
  for_each_channel(call, dy, [&](std::int64_t channel) {
    const auto c = static_cast<std::size_t>(channel);
    const float slope = call.inputs[1].f32()[c] * inverse_std(call, call.inputs[2].f32()[c]);
    const Channel from = channel_of(dy, channel, floats(call.workspace));
    const Channel to = dy.is_short() ? from : Channel{dx, channel};
    from.for_each_run([&](std::int64_t n, const float* run) {
      kernel_table().arithmetic.scale(from.length(), slope, run, to.run(n));
    });
    if (dy.is_short()) dx.replace(channel, to.run(0));
  });
}

std::vector<TensorType> infer_running_weight_gradient(const Attributes&, Types in) {
  expect_inputs(in, 4, "dy, x, running_mean, running_var");
  return {in[2], in[2]};
}

}  // namespace

const Op batch_norm_inference{.name = "batch_norm_inference",
                              .onnx = "BatchNormalization",
                              .attributes = {attribute::norm_eps},
                              .infer = infer_running,
                              .forward = forward_running,
                              .backward = backward_running,
                              .cost = streaming_cost<4>,
                              .workspace = channel_workspace<1>,
                              .units = axis_units<1>,
                              .overwrites = {{0, 0}},
                              .lane_use = follow_lanes,
                              .samples = running_samples};

const Op batch_norm_inference_input_gradient{.name = "batch_norm_inference_input_gradient",
                                             .attributes = {attribute::norm_eps},
                                             .infer = infer_running_input_gradient,
                                             .forward = forward_running_input_gradient,
                                             .cost = streaming_cost<1>,
                                             .workspace = channel_workspace<1>,
                                             .units = axis_units<1>,
                                             .overwrites = {{0, 0}}};

const Op batch_norm_inference_weight_gradient{.name = "batch_norm_inference_weight_gradient",
                                              .attributes = {attribute::norm_eps},
                                              .infer = infer_running_weight_gradient,
                                              .forward = forward_weight_gradient<running>,
                                              .cost = streaming_cost<4>,
                                              .workspace = channel_workspace<2>,
                                              .units = axis_units<0>};

}  // namespace penstock::graph
