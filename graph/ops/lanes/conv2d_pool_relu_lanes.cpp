#include "graph/ops/lanes/conv2d_pool_relu_lanes.hpp"
#include "graph/ops/activations/unary.hpp"

#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/lanes/lane_convolution.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/lane_shape.hpp"
#include "graph/ops/rules/units.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {
namespace {

/// Returns the sizes of the convolution, whose output is then pooled.
LaneConvolution sizes(const Attributes& attributes, const Shape& x, const Shape& weight) {
  const Window2d window = conv_window(attributes, {weight[2], weight[3]});
  const Pair out = window_counts(window, {DType::f32, x});
  return lane_convolution(attributes, x, weight, {x[0], weight[0], out[0], out[1], lane_count});
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  const TensorType conv = infer_lane_convolution(attributes, in);
  const std::int64_t height = conv.shape[2], width = conv.shape[3];
  expect(height >= 2 && width >= 2, "expected an output of at least 2x2 pixels to pool, got " +
                                        std::to_string(height) + "x" + std::to_string(width));
  const Shape y = conv.shape.with(2, height / 2).with(3, width / 2);
  return {{DType::f32, y}, {DType::f32, y.with(-1, winner_floats)}};
}

std::int64_t workspace(const Attributes& attributes, Types in, Types) {
  return float_bytes * padded_floats(sizes(attributes, in[0].shape, in[1].shape));
}

std::int64_t units(const Attributes& attributes, Types in, Types out) {
  return units_in_blocks(sizes(attributes, in[0].shape, in[1].shape), out[0].shape[2]);
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  return lane_convolution_cost(sizes(attributes, in[0].shape, in[1].shape), in, out);
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &weight = call.inputs[1];
  kernel_table().lanes.convolve_pool(
      sizes(call.attributes, x.shape(), weight.shape()), call.part, x.f32().data(),
      weight.f32().data(), call.inputs.size() == 3 ? call.inputs[2].f32().data() : nullptr,
      call.outputs[0].f32().data(), winners_of(call.outputs[1]), floats(call.workspace));
}

void backward(GradientContext& context) {
  const ValueId x = context.input(0), weight = context.input(1);
  const ValueId winners = context.output(1), dy = context.gradient(0);
  const Shape kernel = context.type(weight).shape;
  if (context.needs(0))
    context.set(0, context.emit(conv2d_pool_relu_lanes_input_gradient, {winners, dy, weight},
                                with_input_size(context.attributes(), context.type(x).shape)));
  const bool biased = context.input_count() == 3;
  if (!context.needs(1) && !(biased && context.needs(2))) return;
  Attributes attributes = context.attributes();
  attributes.set("kernel", std::vector<std::int64_t>{kernel[2], kernel[3]});
  const auto gradients = context.emit_all(conv2d_pool_relu_lanes_weight_gradient, {x, winners, dy},
                                          std::move(attributes));
  context.set(1, gradients[0]);
  if (biased) context.set(2, gradients[1]);
}

/// Returns samples in which a change of the weight never changes which pixel wins: each kernel has
/// one tap, which is positive.
std::vector<OpSample> samples() {
  const auto f32 = [](Shape shape) { return TensorType{DType::f32, shape}; };
  return {{.inputs = {f32({2, 1, 4, 7, 16}), f32({3, 1, 1, 1}), f32({3})}, .low = 0.1},
          {.inputs = {f32({1, 1, 4, 2, 16}), f32({2, 1, 1, 1})},
           .attributes = {{"padding", 1}},
           .low = 0.1}};
}

/// Returns the cost of a gradient through the pooling. Only one of four pixels has a gradient, but
/// each product first selects its operand. Therefore, half of the operations for all pixels are
/// counted.
Cost routed_cost(const LaneConvolution& conv, Types in, Types out) {
  Cost cost = lane_convolution_cost(conv, in, out);
  cost.flops /= 2;
  return cost;
}

LaneConvolution sizes_input_gradient(const Attributes& attributes, Types in, Types out) {
  return sizes(attributes, out[0].shape, in[2].shape);
}

std::vector<TensorType> infer_input_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "winners, dy, weight");
  return {{DType::f32, image_shape(attributes, in[1].shape).with(1, in[2].shape[1])}};
}

std::int64_t workspace_input_gradient(const Attributes& attributes, Types in, Types out) {
  return float_bytes * pool_input_gradient_workspace(sizes_input_gradient(attributes, in, out)).end;
}

std::int64_t units_input_gradient(const Attributes& attributes, Types in, Types out) {
  return units_in_blocks(sizes_input_gradient(attributes, in, out), out[0].shape[1]);
}

Cost cost_input_gradient(const Attributes& attributes, Types in, Types out) {
  return routed_cost(sizes_input_gradient(attributes, in, out), in, out);
}

void forward_input_gradient(const KernelCall& call) {
  const Operand &dy = call.inputs[1], &weight = call.inputs[2], &dx = call.outputs[0];
  kernel_table().lanes.convolve_pool_input_gradient(
      sizes(call.attributes, dx.shape(), weight.shape()), call.part, winners_of(call.inputs[0]),
      dy.f32().data(), weight.f32().data(), dx.f32().data(), floats(call.workspace));
}

LaneConvolution sizes_weight_gradient(const Attributes& attributes, Types in, Types out) {
  return sizes(attributes, in[0].shape, out[0].shape);
}

std::vector<TensorType> infer_weight_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "x, winners, dy");
  const Pair kernel = attribute::kernel.of(attributes);
  const std::int64_t outputs = in[2].shape[1];
  return {{DType::f32, {outputs, in[0].shape[1], kernel[0], kernel[1]}}, {DType::f32, {outputs}}};
}

std::int64_t workspace_weight_gradient(const Attributes& attributes, Types in, Types out) {
  return float_bytes *
         pool_weight_gradient_workspace(sizes_weight_gradient(attributes, in, out)).end;
}

Cost cost_weight_gradient(const Attributes& attributes, Types in, Types out) {
  return routed_cost(sizes_weight_gradient(attributes, in, out), in, out);
}

void forward_weight_gradient(const KernelCall& call) {
  const Operand &x = call.inputs[0], &dy = call.inputs[2], &dweight = call.outputs[0];
  kernel_table().lanes.convolve_pool_weight_gradient(
      sizes(call.attributes, x.shape(), dweight.shape()), call.part, x.f32().data(),
      winners_of(call.inputs[1]), dy.f32().data(), dweight.f32().data(),
      call.outputs[1].f32().data(), floats(call.workspace));
}

}  // namespace

const Op conv2d_pool_relu_lanes{
    .name = "conv2d_pool_relu_lanes",
    .attributes = {attribute::stride, attribute::padding, attribute::dilation, attribute::groups,
                   attribute::relu, attribute::batch},
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .cost = cost,
    .workspace = workspace,
    .units = units,
    .samples = samples};

const Op conv2d_pool_relu_lanes_input_gradient{
    .name = "conv2d_pool_relu_lanes_input_gradient",
    .attributes = {attribute::stride, attribute::padding, attribute::dilation, attribute::groups,
                   attribute::relu, attribute::batch, attribute::input_size},
    .infer = infer_input_gradient,
    .forward = forward_input_gradient,
    .cost = cost_input_gradient,
    .workspace = workspace_input_gradient,
    .units = units_input_gradient};

const Op conv2d_pool_relu_lanes_weight_gradient{
    .name = "conv2d_pool_relu_lanes_weight_gradient",
    .attributes = {attribute::stride, attribute::padding, attribute::dilation, attribute::groups,
                   attribute::relu, attribute::batch, attribute::kernel},
    .infer = infer_weight_gradient,
    .forward = forward_weight_gradient,
    .cost = cost_weight_gradient,
    .workspace = workspace_weight_gradient,
    .units = axis_units<0>};

}  // namespace penstock::graph
