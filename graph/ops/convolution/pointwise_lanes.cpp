#include "graph/ops/convolution/pointwise_lanes.hpp"

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/sums.hpp"
#include "graph/ops/convolution/products/conv2d_calls.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/lane_shape.hpp"

namespace penstock::graph {
namespace {

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

std::vector<TensorType> infer_weight_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, dy");
  expect_images(attributes, in[0], "x");
  expect_shape(in[1], in[0].shape.with(1, in[1].shape[1]), "dy");
  return {{DType::f32, {in[1].shape[1], in[0].shape[1], 1, 1}}};
}

}  // namespace

const Op pointwise_conv2d_lanes{.name = "pointwise_conv2d_lanes",
                                .attributes = {attribute::relu, attribute::batch},
                                .infer = infer,
                                .forward = conv2d_forward,
                                .backward = backward,
                                .cost = conv2d_cost,
                                .workspace = conv2d_workspace,
                                .units = conv2d_units,
                                .samples = samples,
                                .relu_flag = &attribute::relu};

const Op pointwise_conv2d_lanes_input_gradient{.name = "pointwise_conv2d_lanes_input_gradient",
                                               .attributes = {attribute::relu, attribute::batch},
                                               .infer = infer_input_gradient,
                                               .forward = conv2d_forward_of_input_gradient,
                                               .cost = conv2d_cost_of_input_gradient,
                                               .workspace = conv2d_workspace_of_input_gradient,
                                               .units = conv2d_units_of_input_gradient};

const Op pointwise_conv2d_lanes_weight_gradient{.name = "pointwise_conv2d_lanes_weight_gradient",
                                                .attributes = {attribute::relu, attribute::batch},
                                                .infer = infer_weight_gradient,
                                                .forward = conv2d_forward_of_weight_gradient,
                                                .cost = conv2d_cost_of_weight_gradient,
                                                .workspace = conv2d_workspace_of_weight_gradient,
                                                .units = conv2d_units_of_weight_gradient};

}  // namespace penstock::graph
