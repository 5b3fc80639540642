#include "graph/ops/convolution/conv2d_packed.hpp"

#include <utility>
#include <vector>

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/convolution/products/conv2d_products.hpp"
#include "graph/ops/rules/channels.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {
namespace {

constexpr IntegerAttribute out_channels{"out_channels"};

/// Returns the sizes of a convolution of x by weights of the shape `weight`.
Conv2dGeometry geometry(const Attributes& attributes, const TensorType& x, const Shape& weight) {
  const Pair y = window_counts(conv_window(attributes, {weight[2], weight[3]}), x);
  return {attributes, x.shape, weight, {x.shape[0], weight[0], y[0], y[1]}};
}

void expect_packing(const Conv2dGeometry& conv) {
  expect(packs_weights(conv), "expected a convolution that packs its weights beforehand");
}

// The following functions are those of conv2d_pack.

/// Returns the sizes of the convolution of one sample by weights of the shape `weight`.
Conv2dGeometry pack_geometry(const Attributes& attributes, const Shape& weight) {
  const auto [height, width] = attribute::input_size.of(attributes);
  const std::int64_t channels = weight[1] * attribute::groups.of(attributes);
  return geometry(attributes, {DType::f32, {1, channels, height, width}}, weight);
}

std::vector<TensorType> infer_pack(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "weight");
  expect_dtype(in[0], DType::f32, "weight");
  expect_rank(in[0], 4, "weight");
  expect_elements(in[0], "weight");
  const std::int64_t groups = attribute::groups.of(attributes);
  expect_groups(in[0].shape[0], groups, "output");
  const Conv2dGeometry conv = pack_geometry(attributes, in[0].shape);
  expect_packing(conv);
  return {{DType::f32, packed_weights_shape(conv)}};
}

std::int64_t units_pack(const Attributes&, Types, Types out) {
  return out[0].shape[0] * out[0].shape[1];
}

void forward_pack(const KernelCall& call) {
  const Operand &weight = call.inputs[0], &packed = call.outputs[0];
  pack_weights(pack_geometry(call.attributes, weight.shape()), call.part, weight.f32().data(),
               packed.f32().data());
}

std::vector<OpSample> samples_pack() {
  using List = std::vector<std::int64_t>;
  return {{.inputs = {{DType::f32, {40, 16, 3, 3}}},
           .attributes = {{"padding", 1}, {"input_size", List{6, 6}}}},
          {.inputs = {{DType::f32, {64, 16, 3, 2}}},
           .attributes = {{"groups", 2}, {"stride", 2}, {"input_size", List{7, 7}}}}};
}

// The following functions are those of conv2d_packed.

/// Returns the shape that the weights for x of the shape `x` had before they were packed.
Shape weight_shape(const Attributes& attributes, const Shape& x) {
  const Pair kernel = attribute::kernel.of(attributes);
  return {out_channels.of(attributes), x[1] / attribute::groups.of(attributes), kernel[0],
          kernel[1]};
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 2 ? 2 : 3, "x, weight, bias");
  expect_rank(in[0], 4, "x");
  expect_groups(in[0].shape[1], attribute::groups.of(attributes), "input");
  std::vector<TensorType> types(in.begin(), in.end());
  types[1].shape = weight_shape(attributes, in[0].shape);
  std::vector<TensorType> out = conv2d.infer(attributes, types);
  const Conv2dGeometry conv = geometry(attributes, types[0], types[1].shape);
  expect_packing(conv);
  expect_shape(in[1], packed_weights_shape(conv), "weight");
  return out;
}

Conv2dGeometry packed_geometry(const Attributes& attributes, const Shape& x, const Shape& y) {
  Conv2dGeometry conv(attributes, x, weight_shape(attributes, x), y);
  conv.packed = true;
  return conv;
}

Conv2dGeometry packed_geometry(const Attributes& attributes, Types in, Types out) {
  return packed_geometry(attributes, in[0].shape, out[0].shape);
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  return packed_geometry(attributes, in, out).cost();
}

std::int64_t workspace(const Attributes& attributes, Types in, Types out) {
  return float_bytes * convolve_floats(packed_geometry(attributes, in, out));
}

std::int64_t units(const Attributes& attributes, Types in, Types out) {
  return convolve_units(packed_geometry(attributes, in, out));
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &weight = call.inputs[1], &y = call.outputs[0];
  convolve(packed_geometry(call.attributes, x.shape(), y.shape()), call.part, x.f32().data(),
           weight.f32().data(), call.inputs.size() == 3 ? call.inputs[2].f32().data() : nullptr,
           relu_if(attribute::relu.of(call.attributes)), y.f32().data(), floats(call.workspace));
}

std::vector<OpSample> samples() {
  const auto f32 = [](Shape shape) { return TensorType{DType::f32, shape}; };
  using List = std::vector<std::int64_t>;
  return {
      {.inputs = {f32({2, 16, 6, 6}), f32({1, 2, 144, 32}), f32({40})},
       .attributes = {{"padding", 1}, {"kernel", 3}, {"out_channels", 40}, {"relu", 1}}},
      {.inputs = {f32({3, 32, 7, 7}), f32({2, 1, 96, 32})},
       .attributes = {{"groups", 2}, {"stride", 2}, {"kernel", List{3, 2}}, {"out_channels", 64}}}};
}

}  // namespace

const Op conv2d_pack{.name = "conv2d_pack",
                     .attributes = {attribute::stride, attribute::padding, attribute::dilation,
                                    attribute::groups, attribute::input_size},
                     .infer = infer_pack,
                     .forward = forward_pack,
                     .cost = streaming_cost<0>,
                     .units = units_pack,
                     .samples = samples_pack};

const Op conv2d_packed{
    .name = "conv2d_packed",
    .attributes = {attribute::stride, attribute::padding, attribute::dilation, attribute::groups,
                   attribute::relu, attribute::kernel, out_channels},
    .infer = infer,
    .forward = forward,
    .cost = cost,
    .workspace = workspace,
    .units = units,
    .samples = samples};

std::optional<PackedForm> packed_conv2d_form(const Attributes& attributes, Types inputs) {
  const Shape& weight = inputs[1].shape;
  if (!packs_weights(geometry(attributes, inputs[0], weight))) return std::nullopt;
  const Attributes for_pack = with_input_size(attributes, inputs[0].shape);
  Attributes for_op = attributes;
  for_op.set("kernel", std::vector<std::int64_t>{weight[2], weight[3]});
  for_op.set("out_channels", weight[0]);
  return PackedForm{&conv2d_pack, only_declared(conv2d_pack.attributes, for_pack), &conv2d_packed,
                    std::move(for_op)};
}

}  // namespace penstock::graph
