#include "graph/ops/convolution/pointwise_lanes.hpp"

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/sums.hpp"
#include "graph/ops/convolution/products/conv2d_products.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/lane_shape.hpp"

namespace penstock::graph {
namespace {

/// Returns [B,C,H,W·16] for the shape [B,C,H,W,16].
Shape image_of(const Shape& lanes) {
  return {lanes[0], lanes[1], lanes[2], lanes[3] * lanes[4]};
}

Conv2dGeometry geometry(const Shape& x, const Shape& weight, const Shape& y) {
  return {{}, image_of(x), weight, image_of(y)};
}

/// Checks that `type`, which is called `name`, is a tensor [B,C,H,W,16] with a sample in every
/// lane.
void expect_images(const Attributes& attributes, const TensorType& type, std::string_view name) {
  expect_lanes(type, 5, name);
  expect_full_lanes(attributes, type.shape);
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 2 ? 2 : 3, "x, weight, bias");
  expect_images(attributes, in[0], "x");
  expect_dtype(in[1], DType::f32, "weight");
  expect_rank(in[1], 4, "weight");
  const Shape &x = in[0].shape, &weight = in[1].shape;
  expect_shape(in[1], {weight[0], x[1], 1, 1}, "weight");
  expect_optional_bias(in, {weight[0]});
  return {{DType::f32, x.with(1, weight[0])}};
}

Conv2dGeometry forward_geometry(Types in, Types out) {
  return geometry(in[0].shape, in[1].shape, out[0].shape);
}

std::int64_t workspace(const Attributes&, Types in, Types out) {
  return float_bytes * convolve_floats(forward_geometry(in, out));
}

std::int64_t units(const Attributes&, Types in, Types out) {
  return convolve_units(forward_geometry(in, out));
}

Cost cost(const Attributes&, Types in, Types out) {
  return forward_geometry(in, out).cost();
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &weight = call.inputs[1], &y = call.outputs[0];
  convolve(geometry(x.shape(), weight.shape(), y.shape()), call.part, x.f32().data(),
           weight.f32().data(), call.inputs.size() == 3 ? call.inputs[2].f32().data() : nullptr,
           relu_if(attribute::relu.of(call.attributes)), y.f32().data(), floats(call.workspace));
}

void backward(GradientContext& context) {
  const ValueId x = context.input(0), weight = context.input(1), dy = gradient_before_relu(context);
  if (context.needs(0))
    context.set(
        0, context.emit(pointwise_conv2d_lanes_input_gradient, {dy, weight}, context.attributes()));
  if (context.needs(1))
    context.set(
        1, context.emit(pointwise_conv2d_lanes_weight_gradient, {x, dy}, context.attributes()));
  if (context.input_count() == 3 && context.needs(2))
    context.set(2, context.emit(channel_sum_lanes, {dy}));
}

std::vector<OpSample> samples() {
  const auto f32 = [](Shape shape) { return TensorType{DType::f32, shape}; };
  return {
      {.inputs = {f32({2, 3, 2, 3, 16}), f32({5, 3, 1, 1}), f32({5})}},
      {.inputs = {f32({1, 20, 1, 1, 16}), f32({33, 20, 1, 1})}},
      {.inputs = {f32({1, 2, 2, 1, 16}), f32({3, 2, 1, 1}), f32({3})},
       .attributes = {{"relu", 1}},
       .low = 0.1},  // The inputs are positive, so that no sum is near 0, where relu has its kink.
  };
}

std::vector<TensorType> infer_input_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "dy, weight");
  expect_images(attributes, in[0], "dy");
  expect_shape(in[1], {in[0].shape[1], in[1].shape[1], 1, 1}, "weight");
  return {{DType::f32, in[0].shape.with(1, in[1].shape[1])}};
}

Conv2dGeometry input_gradient_geometry(Types in, Types out) {
  return geometry(out[0].shape, in[1].shape, in[0].shape);
}

std::int64_t workspace_input_gradient(const Attributes&, Types in, Types out) {
  return float_bytes * convolve_input_gradient_floats(input_gradient_geometry(in, out));
}

std::int64_t units_input_gradient(const Attributes&, Types in, Types out) {
  return convolve_input_gradient_units(input_gradient_geometry(in, out));
}

Cost cost_input_gradient(const Attributes&, Types in, Types out) {
  return input_gradient_geometry(in, out).cost();
}

void forward_input_gradient(const KernelCall& call) {
  const Operand &dy = call.inputs[0], &weight = call.inputs[1], &dx = call.outputs[0];
  convolve_input_gradient(geometry(dx.shape(), weight.shape(), dy.shape()), call.part,
                          dy.f32().data(), weight.f32().data(), dx.f32().data(),
                          floats(call.workspace));
}

std::vector<TensorType> infer_weight_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, dy");
  expect_images(attributes, in[0], "x");
  expect_shape(in[1], in[0].shape.with(1, in[1].shape[1]), "dy");
  return {{DType::f32, {in[1].shape[1], in[0].shape[1], 1, 1}}};
}

Conv2dGeometry weight_gradient_geometry(Types in, Types out) {
  return geometry(in[0].shape, out[0].shape, in[1].shape);
}

std::int64_t workspace_weight_gradient(const Attributes&, Types in, Types out) {
  return float_bytes * convolve_weight_gradient_floats(weight_gradient_geometry(in, out));
}

std::int64_t units_weight_gradient(const Attributes&, Types in, Types out) {
  return convolve_weight_gradient_units(weight_gradient_geometry(in, out));
}

Cost cost_weight_gradient(const Attributes&, Types in, Types out) {
  return weight_gradient_geometry(in, out).cost();
}

void forward_weight_gradient(const KernelCall& call) {
  const Operand &x = call.inputs[0], &dy = call.inputs[1], &dweight = call.outputs[0];
  convolve_weight_gradient(geometry(x.shape(), dweight.shape(), dy.shape()), call.part,
                           x.f32().data(), dy.f32().data(), dweight.f32().data(),
                           floats(call.workspace));
}

}  // namespace

const Op pointwise_conv2d_lanes{.name = "pointwise_conv2d_lanes",
                                .attributes = {attribute::relu, attribute::batch},
                                .infer = infer,
                                .forward = forward,
                                .backward = backward,
                                .cost = cost,
                                .workspace = workspace,
                                .units = units,
                                .samples = samples,
                                .relu_flag = &attribute::relu};

const Op pointwise_conv2d_lanes_input_gradient{.name = "pointwise_conv2d_lanes_input_gradient",
                                               .attributes = {attribute::relu, attribute::batch},
                                               .infer = infer_input_gradient,
                                               .forward = forward_input_gradient,
                                               .cost = cost_input_gradient,
                                               .workspace = workspace_input_gradient,
                                               .units = units_input_gradient};

const Op pointwise_conv2d_lanes_weight_gradient{.name = "pointwise_conv2d_lanes_weight_gradient",
                                                .attributes = {attribute::relu, attribute::batch},
                                                .infer = infer_weight_gradient,
                                                .forward = forward_weight_gradient,
                                                .cost = cost_weight_gradient,
                                                .workspace = workspace_weight_gradient,
                                                .units = units_weight_gradient};

}  // namespace penstock::graph
