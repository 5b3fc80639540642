#include "graph/ops/convolution/conv2d.hpp"

#include <string>

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/sums.hpp"
#include "graph/ops/convolution/conv2d_pack.hpp"
#include "graph/ops/convolution/pointwise_lanes.hpp"
#include "graph/ops/convolution/products/conv2d_calls.hpp"
#include "graph/ops/lanes/conv2d_lanes.hpp"
#include "graph/ops/lanes/depthwise_lanes.hpp"
#include "graph/ops/rules/channels.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/lane_shape.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {
namespace {

void expect_channels(const Attributes& attributes, const Shape& x, const Shape& weight) {
  const std::int64_t groups = attribute::groups.of(attributes);
  expect_groups(x[1], groups, "input");
  expect_groups(weight[0], groups, "output");
  expect(x[1] == weight[1] * groups, "expected " + std::to_string(weight[1] * groups) +
                                         " input channels, got " + std::to_string(x[1]));
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 2 ? 2 : 3, "x, weight, bias");
  expect_image(in[0], "x");
  expect_image(in[1], "weight");
  const Shape &x = in[0].shape, &weight = in[1].shape;
  expect_channels(attributes, x, weight);
  expect_optional_bias(in, {weight[0]});
  const Pair out = window_counts(conv_window(attributes, {weight[2], weight[3]}), in[0]);
  expect_elements(in[1], "weight");
  return {{DType::f32, {x[0], weight[0], out[0], out[1]}}};
}

void backward(GradientContext& context) {
  const ValueId x = context.input(0), weight = context.input(1), dy = gradient_before_relu(context);
  const Shape kernel = context.type(weight).shape;
  Attributes for_input = with_input_size(context.attributes(), context.type(x).shape);
  Attributes for_weight = context.attributes();
  for_weight.set("kernel", std::vector<std::int64_t>{kernel[2], kernel[3]});
  if (context.needs(0))
    context.set(0, context.emit(conv2d_input_gradient, {dy, weight}, std::move(for_input)));
  if (context.needs(1))
    context.set(1, context.emit(conv2d_weight_gradient, {x, dy}, std::move(for_weight)));
  if (context.input_count() == 3 && context.needs(2))
    context.set(2, context.emit(channel_sum, {dy}));
}

std::vector<OpSample> samples() {
  const auto f32 = [](Shape shape) { return TensorType{DType::f32, shape}; };
  using List = std::vector<std::int64_t>;
  return {
      {.inputs = {f32({2, 3, 6, 7}), f32({4, 3, 3, 3}), f32({4})}},
      {.inputs = {f32({3, 2, 7, 5}), f32({4, 2, 3, 2})},
       .attributes = {{"stride", List{2, 1}}, {"padding", List{1, 0}}}},
      {.inputs = {f32({2, 4, 7, 7}), f32({6, 2, 3, 3}), f32({6})},
       .attributes = {{"stride", 2}, {"padding", 3}, {"dilation", 2}, {"groups", 2}}},
      {.inputs = {f32({2, 3, 10, 10}), f32({3, 1, 3, 3}), f32({3})}, .attributes = {{"groups", 3}}},
      {.inputs = {f32({2, 3, 9, 7}), f32({3, 1, 3, 2}), f32({3})},
       .attributes = {{"groups", 3},
                      {"stride", List{2, 1}},
                      {"padding", List{1, 3}},
                      {"dilation", List{1, 2}}}},
      {.inputs = {f32({2, 2, 5, 21}), f32({2, 1, 4, 4})},
       .attributes = {{"groups", 2}, {"padding", 1}, {"stride", List{1, 3}}}},
      {.inputs = {f32({1, 4, 3, 3}), f32({2, 4, 1, 1})}, .attributes = {{"padding", 2}}},
      {.inputs = {f32({2, 2, 4, 3}), f32({3, 2, 2, 2}), f32({3})},
       .attributes = {{"relu", 1}},
       .low = 0.1},  // The inputs are positive, so that no sum is near 0, where relu has its kink.
  };
}

std::vector<TensorType> infer_input_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "dy, weight");
  const std::int64_t channels = in[1].shape[1] * attribute::groups.of(attributes);
  return {{DType::f32, image_shape(attributes, in[0].shape).with(1, channels)}};
}

std::vector<TensorType> infer_weight_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, dy");
  const Pair kernel = attribute::kernel.of(attributes);
  const std::int64_t channels = in[0].shape[1] / attribute::groups.of(attributes);
  return {{DType::f32, {in[1].shape[1], channels, kernel[0], kernel[1]}}};
}

/// Returns whether every lane of x [N,C,H,W] has a sample in the batch-lane layout.
bool fills_lanes(const Shape& x) {
  return x[0] % lane_count == 0;
}

/// Returns in which layout a convolution works that has a kernel for each channel. In the
/// batch-lane layout, every vector has the same pixel of 16 samples. If rows are not wide, vectors
/// of neighbouring pixels of one sample would often be mostly empty, and vectors of neighbouring
/// channels have to be transposed.
LaneUse depthwise_lane_use(const Shape& x, const Window2d& window) {
  constexpr std::int64_t wide = 4 * lane_count;
  const bool small_padding =
      window.padding[0] < window.kernel[0] && window.padding[1] < window.kernel[1];
  const bool small_stride = window.stride[0] <= 2 && window.stride[1] <= 2;
  if (!fills_lanes(x) || !small_padding || !small_stride) return LaneUse::never;
  return x[3] <= wide ? LaneUse::prefers_in_training : LaneUse::follows_producer;
}

bool is_pointwise(const Window2d& window) {
  return window.kernel == Pair{1, 1} && window.padding == Pair{0, 0};
}

// If there are few channels, matrix products are narrow and therefore slow, but vectors of samples
// are as wide as ever. If there are many channels, matrix products are faster. If there are few
// samples, most lanes would be padding. A kernel of one pixel is about as fast in either layout, so
// that it follows what is before it.
LaneUse lane_use(const Attributes& attributes, Types in) {
  constexpr std::int64_t few_channels = 32;
  const Shape &x = in[0].shape, &weight = in[1].shape;
  const Window2d window = conv_window(attributes, {weight[2], weight[3]});
  const std::int64_t groups = attribute::groups.of(attributes);
  if (window.dilation != Pair{1, 1}) return LaneUse::never;
  if (groups > 1)
    return groups == x[1] && groups == weight[0] ? depthwise_lane_use(x, window) : LaneUse::never;
  if (window.stride != Pair{1, 1}) return LaneUse::never;
  // The kernels skip half of a block of lanes if that half has no sample.
  constexpr std::int64_t step = lane_count / 2;
  const std::int64_t computed = (x[0] + step - 1) / step * step;
  const bool is_narrow =
      x[1] <= few_channels && weight[0] <= few_channels && 3 * x[0] >= 2 * computed;
  if (is_pointwise(window))
    return is_narrow || fills_lanes(x) ? LaneUse::follows_producer : LaneUse::never;
  return is_narrow ? LaneUse::prefers : LaneUse::never;
}

const Op& lane_form(const Attributes& attributes, Types in) {
  const Shape &x = in[0].shape, &weight = in[1].shape;
  if (attribute::groups.of(attributes) > 1) return depthwise_conv2d_lanes;
  return fills_lanes(x) && is_pointwise(conv_window(attributes, {weight[2], weight[3]}))
             ? pointwise_conv2d_lanes
             : conv2d_lanes;
}

}  // namespace

const Op conv2d{.name = "conv2d",
                .onnx = "Conv",
                .attributes = {attribute::stride, attribute::padding, attribute::dilation,
                               attribute::groups, attribute::relu},
                .infer = infer,
                .forward = conv2d_forward,
                .backward = backward,
                .cost = conv2d_cost,
                .workspace = conv2d_workspace,
                .units = conv2d_units,
                .lane_form = lane_form,
                .lane_use = lane_use,
                .packed_form = packed_conv2d_form,
                .samples = samples,
                .relu_flag = &attribute::relu};

const Op conv2d_input_gradient{
    .name = "conv2d_input_gradient",
    .attributes = {attribute::stride, attribute::padding, attribute::dilation, attribute::groups,
                   attribute::relu, attribute::input_size},
    .infer = infer_input_gradient,
    .forward = conv2d_forward_of_input_gradient,
    .cost = conv2d_cost_of_input_gradient,
    .workspace = conv2d_workspace_of_input_gradient,
    .units = conv2d_units_of_input_gradient};

const Op conv2d_weight_gradient{
    .name = "conv2d_weight_gradient",
    .attributes = {attribute::stride, attribute::padding, attribute::dilation, attribute::groups,
                   attribute::relu, attribute::kernel},
    .infer = infer_weight_gradient,
    .forward = conv2d_forward_of_weight_gradient,
    .cost = conv2d_cost_of_weight_gradient,
    .workspace = conv2d_workspace_of_weight_gradient,
    .units = conv2d_units_of_weight_gradient};

}  // namespace penstock::graph
