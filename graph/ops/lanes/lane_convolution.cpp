#include "graph/ops/lanes/lane_convolution.hpp"

#include <string>

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/lane_shape.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {
namespace {

void expect_ones(const Attributes& attributes, const PairAttribute& key) {
  const Pair pair = key.of(attributes);
  expect(pair == Pair{1, 1}, "expected " + std::string(key.name) + " 1, got " +
                                 std::to_string(pair[0]) + "x" + std::to_string(pair[1]));
}

}  // namespace

TensorType infer_lane_convolution(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 2 ? 2 : 3, "x, weight, bias");
  expect_lanes(in[0], 5, "x");
  expect_dtype(in[1], DType::f32, "weight");
  expect_rank(in[1], 4, "weight");
  const Shape &x = in[0].shape, &weight = in[1].shape;
  expect(x[1] == weight[1],
         "expected " + std::to_string(weight[1]) + " input channels, got " + std::to_string(x[1]));
  expect_optional_bias(in, {weight[0]});
  for (const PairAttribute& key : {attribute::stride, attribute::dilation})
    expect_ones(attributes, key);
  expect(attribute::groups.of(attributes) == 1,
         "expected groups 1, got " + std::to_string(attribute::groups.of(attributes)));
  lane_batch(attributes, x);
  const Pair out = window_counts(conv_window(attributes, {weight[2], weight[3]}), in[0]);
  return {DType::f32, {x[0], weight[0], out[0], out[1], lane_count}};
}

Shape lane_convolution_input(const Attributes& attributes, const Shape& y, const Shape& weight) {
  const Pair padding = attribute::padding.of(attributes);
  return {y[0], weight[1], y[2] + weight[2] - 1 - 2 * padding[0],
          y[3] + weight[3] - 1 - 2 * padding[1], lane_count};
}

Shape lane_convolution_weight(const Attributes& attributes, const Shape& x, const Shape& y) {
  const Pair padding = attribute::padding.of(attributes);
  return {y[1], x[1], x[2] + 2 * padding[0] - y[2] + 1, x[3] + 2 * padding[1] - y[3] + 1};
}

LaneConvolution lane_convolution(const Attributes& attributes, const Shape& x, const Shape& weight,
                                 const Shape& y) {
  const Pair padding = attribute::padding.of(attributes);
  const Pair stride = attribute::stride.of(attributes);
  return {.samples = lane_batch(attributes, x),
          .inputs = x[1],
          .height = x[2],
          .width = x[3],
          .outputs = weight[0],
          .out_height = y[2],
          .out_width = y[3],
          .kernel_height = weight[2],
          .kernel_width = weight[3],
          .padding_height = padding[0],
          .padding_width = padding[1],
          .stride_height = stride[0],
          .stride_width = stride[1],
          .relu = attribute::relu.of(attributes)};
}

LaneConvolution forward_sizes(const Attributes& attributes, Types in, Types out) {
  return lane_convolution(attributes, in[0].shape, in[1].shape, out[0].shape);
}

LaneConvolution input_gradient_sizes(const Attributes& attributes, Types in, Types out) {
  return lane_convolution(attributes, out[0].shape, in[1].shape, in[0].shape);
}

LaneConvolution weight_gradient_sizes(const Attributes& attributes, Types in, Types out) {
  return lane_convolution(attributes, in[0].shape, out[0].shape, in[1].shape);
}

std::int64_t units_in_blocks(const LaneConvolution& conv, std::int64_t of_each_block) {
  return (conv.samples + lane_count - 1) / lane_count * of_each_block;
}

Cost lane_convolution_cost(const LaneConvolution& conv, Types in, Types out) {
  const std::int64_t sums = conv.samples * conv.outputs * conv.out_height * conv.out_width;
  const std::int64_t products = conv.inputs * conv.kernel_height * conv.kernel_width;
  Cost cost = streaming_cost<0>({}, in, out);
  cost.flops = 2.0 * static_cast<double>(sums) * static_cast<double>(products);
  return cost;
}

}  // namespace penstock::graph
