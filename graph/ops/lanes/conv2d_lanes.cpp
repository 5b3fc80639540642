#include "graph/ops/lanes/conv2d_lanes.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/sums.hpp"
#include "graph/ops/lanes/conv2d_pool_relu_lanes.hpp"
#include "graph/ops/lanes/lane_convolution.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/lane_shape.hpp"
#include "graph/ops/rules/units.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  return {infer_lane_convolution(attributes, in)};
}

std::int64_t workspace(const Attributes& attributes, Types in, Types out) {
  return float_bytes * padded_floats(forward_sizes(attributes, in, out));
}

std::int64_t units(const Attributes& attributes, Types in, Types out) {
  return units_in_blocks(forward_sizes(attributes, in, out), out[0].shape[2]);
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  return lane_convolution_cost(forward_sizes(attributes, in, out), in, out);
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &weight = call.inputs[1], &y = call.outputs[0];
  kernel_table().lanes.convolve(
      lane_convolution(call.attributes, x.shape(), weight.shape(), y.shape()), call.part,
      x.f32().data(), weight.f32().data(),
      call.inputs.size() == 3 ? call.inputs[2].f32().data() : nullptr, y.f32().data(),
      floats(call.workspace));
}

void backward(GradientContext& context) {
  const ValueId x = context.input(0), weight = context.input(1), dy = gradient_before_relu(context);
  if (context.needs(0))
    context.set(0, context.emit(conv2d_lanes_input_gradient, {dy, weight}, context.attributes()));
  if (context.needs(1))
    context.set(1, context.emit(conv2d_lanes_weight_gradient, {x, dy}, context.attributes()));
  if (context.input_count() == 3 && context.needs(2))
    context.set(2, context.emit(channel_sum_lanes, {dy}));
}

std::vector<OpSample> samples() {
  const auto f32 = [](Shape shape) { return TensorType{DType::f32, shape}; };
  return {
      {.inputs = {f32({1, 2, 5, 6, 16}), f32({7, 2, 3, 3}), f32({7})}},
      {.inputs = {f32({2, 4, 3, 7, 16}), f32({3, 4, 2, 6})},
       .attributes = {{"padding", std::vector<std::int64_t>{1, 0}}}},
      {.inputs = {f32({1, 1, 2, 2, 16}), f32({2, 1, 1, 1}), f32({2})},
       .attributes = {{"padding", 2}}},
      {.inputs = {f32({1, 1, 2, 3, 16}), f32({2, 1, 1, 2})},
       .attributes = {{"relu", 1}},
       .low = 0.1},  // The inputs are positive, so that no sum is near 0, where relu has its kink.
  };
}

std::vector<TensorType> infer_input_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "dy, weight");
  return {{DType::f32, lane_convolution_input(attributes, in[0].shape, in[1].shape)}};
}

std::int64_t workspace_input_gradient(const Attributes& attributes, Types in, Types out) {
  return float_bytes * padded_floats(input_gradient_sizes(attributes, in, out));
}

std::int64_t units_input_gradient(const Attributes& attributes, Types in, Types out) {
  return units_in_blocks(input_gradient_sizes(attributes, in, out), out[0].shape[1]);
}

Cost cost_input_gradient(const Attributes& attributes, Types in, Types out) {
  return lane_convolution_cost(input_gradient_sizes(attributes, in, out), in, out);
}

void forward_input_gradient(const KernelCall& call) {
  const Operand &dy = call.inputs[0], &weight = call.inputs[1], &dx = call.outputs[0];
  kernel_table().lanes.convolve_input_gradient(
      lane_convolution(call.attributes, dx.shape(), weight.shape(), dy.shape()), call.part,
      dy.f32().data(), weight.f32().data(), dx.f32().data(), floats(call.workspace));
}

std::vector<TensorType> infer_weight_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, dy");
  return {{DType::f32, lane_convolution_weight(attributes, in[0].shape, in[1].shape)}};
}

std::int64_t workspace_weight_gradient(const Attributes& attributes, Types in, Types out) {
  return float_bytes * weight_gradient_workspace(weight_gradient_sizes(attributes, in, out)).end;
}

Cost cost_weight_gradient(const Attributes& attributes, Types in, Types out) {
  return lane_convolution_cost(weight_gradient_sizes(attributes, in, out), in, out);
}

void forward_weight_gradient(const KernelCall& call) {
  const Operand &x = call.inputs[0], &dy = call.inputs[1], &dweight = call.outputs[0];
  kernel_table().lanes.convolve_weight_gradient(
      lane_convolution(call.attributes, x.shape(), dweight.shape(), dy.shape()), call.part,
      x.f32().data(), dy.f32().data(), dweight.f32().data(), floats(call.workspace));
}

}  // namespace

const Op conv2d_lanes{.name = "conv2d_lanes",
                      .attributes = {attribute::stride, attribute::padding, attribute::dilation,
                                     attribute::groups, attribute::relu, attribute::batch},
                      .infer = infer,
                      .forward = forward,
                      .backward = backward,
                      .cost = cost,
                      .workspace = workspace,
                      .units = units,
                      .samples = samples,
                      .relu_flag = &attribute::relu,
                      .pooled_relu_form = []() -> const Op& { return conv2d_pool_relu_lanes; }};

const Op conv2d_lanes_input_gradient{
    .name = "conv2d_lanes_input_gradient",
    .attributes = {attribute::stride, attribute::padding, attribute::dilation, attribute::groups,
                   attribute::relu, attribute::batch},
    .infer = infer_input_gradient,
    .forward = forward_input_gradient,
    .cost = cost_input_gradient,
    .workspace = workspace_input_gradient,
    .units = units_input_gradient};

const Op conv2d_lanes_weight_gradient{
    .name = "conv2d_lanes_weight_gradient",
    .attributes = {attribute::stride, attribute::padding, attribute::dilation, attribute::groups,
                   attribute::relu, attribute::batch},
    .infer = infer_weight_gradient,
    .forward = forward_weight_gradient,
    .cost = cost_weight_gradient,
    .workspace = workspace_weight_gradient,
    .units = axis_units<0>};

}  // namespace penstock::graph
