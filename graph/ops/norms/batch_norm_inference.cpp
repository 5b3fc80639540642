#include "graph/ops/norms/batch_norm_inference.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/norms/channels.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {
namespace {

/// Computes the inverse standard deviation of each channel of the block from its variance.
void invert(const KernelCall& call, const ChannelBlock& block, const Operand& variance,
            float* inverse) {
  kernel_table().channel_norms.inverse_stds(
      block.runs.channels, attribute::norm_eps.of(call.attributes), block.of(variance), inverse);
}

std::vector<TensorType> infer_running(const Attributes& attributes, Types in) {
  expect_inputs(in, 5, "x, weight, bias, running_mean, running_var");
  expect_channels(attributes, in);
  return {in[0]};
}

void forward_running(const KernelCall& call) {
  for_each_block(call, call.inputs[0].shape(), [&](const ChannelBlock& block) {
    float inverse[ChannelBlock::most_channels];
    invert(call, block, call.inputs[4], inverse);
    normalise_block(call, block, block.of(call.inputs[3]), inverse);
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
  return {{.inputs = {x, c, c, c, c}, .low = 0.5, .high = 2},
          {.inputs = {{DType::f32, {7, 4}}, c, c, c, c}, .low = 0.5, .high = 2}};
}

std::vector<TensorType> infer_running_input_gradient(const Attributes&, Types in) {
  expect_inputs(in, 3, "dy, weight, running_var");
  return {in[0]};
}

void forward_running_input_gradient(const KernelCall& call) {
  const Operand &dy = call.inputs[0], &dx = call.outputs[0];
  const float zeros[ChannelBlock::most_channels] = {};
  for_each_block(call, dy.shape(), [&](const ChannelBlock& block) {
    float slopes[ChannelBlock::most_channels];
    invert(call, block, call.inputs[2], slopes);
    for (std::int64_t c = 0; c < block.runs.channels; ++c) slopes[c] *= block.of(call.inputs[1])[c];
    kernel_table().channel_norms.normalise(block.runs, zeros, slopes, zeros, block.in(dy), nullptr,
                                           {}, block.in(dx), floats(call.workspace));
  });
}

std::vector<TensorType> infer_running_weight_gradient(const Attributes&, Types in) {
  expect_inputs(in, 4, "dy, x, running_mean, running_var");
  return {in[2], in[2]};
}

void forward_running_weight_gradient(const KernelCall& call) {
  for_each_block(call, call.inputs[0].shape(), [&](const ChannelBlock& block) {
    float inverse[ChannelBlock::most_channels];
    GradientSums sums[ChannelBlock::most_channels];
    invert(call, block, call.inputs[3], inverse);
    sum_gradients(call, block, block.of(call.inputs[2]), inverse, {.dy = block.in(call.inputs[0])},
                  block.in(call.inputs[1]), sums);
    put_gradients(block, sums, call.outputs[0], call.outputs[1]);
  });
}

}  // namespace

const Op batch_norm_inference{.name = "batch_norm_inference",
                              .onnx = "BatchNormalization",
                              .attributes = {attribute::norm_eps},
                              .infer = infer_running,
                              .forward = forward_running,
                              .backward = backward_running,
                              .cost = streaming_cost<4>,
                              .workspace = channel_workspace,
                              .units = axis_units<1>,
                              .overwrites = {{0, 0}},
                              .lane_use = follow_lanes,
                              .samples = running_samples,
                              .constant_inputs = {3, 4}};

const Op batch_norm_inference_input_gradient{.name = "batch_norm_inference_input_gradient",
                                             .attributes = {attribute::norm_eps},
                                             .infer = infer_running_input_gradient,
                                             .forward = forward_running_input_gradient,
                                             .cost = streaming_cost<1>,
                                             .workspace = channel_workspace,
                                             .units = axis_units<1>,
                                             .overwrites = {{0, 0}}};

const Op batch_norm_inference_weight_gradient{.name = "batch_norm_inference_weight_gradient",
                                              .attributes = {attribute::norm_eps},
                                              .infer = infer_running_weight_gradient,
                                              .forward = forward_running_weight_gradient,
                                              .cost = streaming_cost<4>,
                                              .workspace = channel_workspace,
                                              .units = axis_units<0>};

}  // namespace penstock::graph
