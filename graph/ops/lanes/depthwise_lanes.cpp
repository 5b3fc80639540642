#include "graph/ops/lanes/depthwise_lanes.hpp"

#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/sums.hpp"
#include "graph/ops/lanes/lane_convolution.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/lane_shape.hpp"
#include "graph/ops/rules/units.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {
namespace {

void expect_strides(const Attributes& attributes) {
  const Pair stride = attribute::stride.of(attributes);
  for (const std::int64_t size : stride)
    expect(size == 1 || size == 2, "expected a stride of 1 or 2, got " + std::to_string(stride[0]) +
                                       "x" + std::to_string(stride[1]));
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 2 ? 2 : 3, "x, weight, bias");
  expect_lanes(in[0], 5, "x");
  expect_dtype(in[1], DType::f32, "weight");
  const Shape &x = in[0].shape, &weight = in[1].shape;
  expect_rank(in[1], 4, "weight");
  expect_shape(in[1], {x[1], 1, weight[2], weight[3]}, "weight");
  expect_optional_bias(in, {x[1]});
  const Pair padding = attribute::padding.of(attributes);
  expect(padding[0] < weight[2] && padding[1] < weight[3],
         "expected a padding that is less than the kernel " + std::to_string(weight[2]) + "x" +
             std::to_string(weight[3]) + ", got " + std::to_string(padding[0]) + "x" +
             std::to_string(padding[1]));
  expect_strides(attributes);
  expect_full_lanes(attributes, x);
  const Pair out = window_counts(conv_window(attributes, {weight[2], weight[3]}), in[0]);
  return {{DType::f32, {x[0], x[1], out[0], out[1], lane_count}}};
}

std::int64_t workspace(const Attributes& attributes, Types in, Types out) {
  return float_bytes * depthwise_floats(forward_sizes(attributes, in, out));
}

/// Returns the cost of a convolution of the sizes `conv`, or of one of its gradients.
Cost depthwise_cost(LaneConvolution conv, Types in, Types out) {
  conv.inputs = 1;
  return lane_convolution_cost(conv, in, out);
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  return depthwise_cost(forward_sizes(attributes, in, out), in, out);
}

/// The units are the channels of each block of samples.
std::int64_t plane_units(const Attributes&, Types in, Types) {
  return in[0].shape[0] * in[0].shape[1];
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &weight = call.inputs[1], &y = call.outputs[0];
  kernel_table().lanes.convolve_depthwise(
      lane_convolution(call.attributes, x.shape(), weight.shape(), y.shape()), call.part,
      x.f32().data(), weight.f32().data(),
      call.inputs.size() == 3 ? call.inputs[2].f32().data() : nullptr, y.f32().data(),
      floats(call.workspace));
}

void backward(GradientContext& context) {
  const ValueId x = context.input(0), weight = context.input(1), dy = gradient_before_relu(context);
  const Shape kernel = context.type(weight).shape;
  Attributes for_input = with_input_size(context.attributes(), context.type(x).shape);
  Attributes for_weight = context.attributes();
  for_weight.set("kernel", std::vector<std::int64_t>{kernel[2], kernel[3]});
  if (context.needs(0))
    context.set(
        0, context.emit(depthwise_conv2d_lanes_input_gradient, {dy, weight}, std::move(for_input)));
  if (context.needs(1))
    context.set(
        1, context.emit(depthwise_conv2d_lanes_weight_gradient, {x, dy}, std::move(for_weight)));
  if (context.input_count() == 3 && context.needs(2))
    context.set(2, context.emit(channel_sum_lanes, {dy}));
}

std::vector<OpSample> samples() {
  const auto f32 = [](Shape shape) { return TensorType{DType::f32, shape}; };
  return {
      {.inputs = {f32({2, 3, 5, 4, 16}), f32({3, 1, 3, 3}), f32({3})},
       .attributes = {{"padding", 1}}},
      {.inputs = {f32({1, 2, 4, 11, 16}), f32({2, 1, 2, 5})},
       .attributes = {{"padding", std::vector<std::int64_t>{1, 3}}}},
      {.inputs = {f32({1, 2, 3, 3, 16}), f32({2, 1, 3, 2}), f32({2})}},
      {.inputs = {f32({1, 2, 5, 6, 16}), f32({2, 1, 3, 3})},
       .attributes = {{"padding", 1}, {"stride", 2}}},
      {.inputs = {f32({1, 1, 4, 4, 16}), f32({1, 1, 1, 2}), f32({1})},
       .attributes = {{"stride", std::vector<std::int64_t>{2, 1}}}},
      {.inputs = {f32({1, 1, 2, 3, 16}), f32({1, 1, 1, 2})},
       .attributes = {{"relu", 1}},
       .low = 0.1},  // The inputs are positive, so that no sum is near 0, where relu has its kink.
  };
}

std::vector<TensorType> infer_input_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "dy, weight");
  return {{DType::f32, image_shape(attributes, in[0].shape)}};
}

Cost cost_input_gradient(const Attributes& attributes, Types in, Types out) {
  return depthwise_cost(input_gradient_sizes(attributes, in, out), in, out);
}

void forward_input_gradient(const KernelCall& call) {
  const Operand &dy = call.inputs[0], &weight = call.inputs[1], &dx = call.outputs[0];
  kernel_table().lanes.convolve_depthwise_input_gradient(
      lane_convolution(call.attributes, dx.shape(), weight.shape(), dy.shape()), call.part,
      dy.f32().data(), weight.f32().data(), dx.f32().data());
}

std::vector<TensorType> infer_weight_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, dy");
  const Pair kernel = attribute::kernel.of(attributes);
  return {{DType::f32, {in[0].shape[1], 1, kernel[0], kernel[1]}}};
}

std::int64_t workspace_weight_gradient(const Attributes& attributes, Types in, Types out) {
  return float_bytes * depthwise_weight_gradient_floats(weight_gradient_sizes(attributes, in, out));
}

Cost cost_weight_gradient(const Attributes& attributes, Types in, Types out) {
  return depthwise_cost(weight_gradient_sizes(attributes, in, out), in, out);
}

void forward_weight_gradient(const KernelCall& call) {
  const Operand &x = call.inputs[0], &dy = call.inputs[1], &dweight = call.outputs[0];
  kernel_table().lanes.convolve_depthwise_weight_gradient(
      lane_convolution(call.attributes, x.shape(), dweight.shape(), dy.shape()), call.part,
      x.f32().data(), dy.f32().data(), dweight.f32().data(), floats(call.workspace));
}

}  // namespace

const Op depthwise_conv2d_lanes{
    .name = "depthwise_conv2d_lanes",
    .attributes = {attribute::stride, attribute::padding, attribute::relu, attribute::batch},
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .cost = cost,
    .workspace = workspace,
    .units = plane_units,
    .samples = samples,
    .relu_flag = &attribute::relu};

const Op depthwise_conv2d_lanes_input_gradient{
    .name = "depthwise_conv2d_lanes_input_gradient",
    .attributes = {attribute::stride, attribute::padding, attribute::relu, attribute::batch,
                   attribute::input_size},
    .infer = infer_input_gradient,
    .forward = forward_input_gradient,
    .cost = cost_input_gradient,
    .units = plane_units};

const Op depthwise_conv2d_lanes_weight_gradient{
    .name = "depthwise_conv2d_lanes_weight_gradient",
    .attributes = {attribute::stride, attribute::padding, attribute::relu, attribute::batch,
                   attribute::kernel},
    .infer = infer_weight_gradient,
    .forward = forward_weight_gradient,
    .cost = cost_weight_gradient,
    .workspace = workspace_weight_gradient,
    .units = axis_units<0>};

}  // namespace penstock::graph
