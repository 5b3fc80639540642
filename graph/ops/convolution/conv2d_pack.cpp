#include "graph/ops/convolution/conv2d_pack.hpp"

#include <string>
#include <utility>
#include <vector>

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/convolution/conv2d_inference.hpp"
#include "graph/ops/convolution/products/conv2d_products.hpp"
#include "graph/ops/norms/finish.hpp"
#include "graph/ops/rules/channels.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {
namespace {

/// Returns the sizes of a convolution of x by weights of the shape `weight`.
Conv2dGeometry geometry(const Attributes& attributes, const TensorType& x, const Shape& weight) {
  const Pair y = window_counts(conv_window(attributes, {weight[2], weight[3]}), x);
  return {attributes, x.shape, weight, {x.shape[0], weight[0], y[0], y[1]}};
}

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
  expect(packs_weights(conv), "expected a convolution that packs its weights beforehand");
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

}  // namespace

const Op conv2d_pack{.name = "conv2d_pack",
                     .attributes = {attribute::stride, attribute::padding, attribute::dilation,
                                    attribute::groups, attribute::input_size},
                     .infer = infer_pack,
                     .forward = forward_pack,
                     .cost = streaming_cost<0>,
                     .units = units_pack,
                     .samples = samples_pack};

std::optional<PackedForm> packed_conv2d_form(const Attributes& attributes, Types inputs) {
  const Shape& weight = inputs[1].shape;
  if (attributes.has(attribute::out_channels.name) ||
      !packs_weights(geometry(attributes, inputs[0], weight)))
    return std::nullopt;
  const Attributes for_pack = with_input_size(attributes, inputs[0].shape);
  Attributes for_op = only_declared(conv2d_inference.attributes, attributes);
  if (attribute::relu.of(attributes)) for_op.set(std::string(attribute::lower_bound.name), 0.0);
  for_op.set(std::string(attribute::kernel.name), std::vector<std::int64_t>{weight[2], weight[3]});
  for_op.set(std::string(attribute::out_channels.name), weight[0]);
  return PackedForm{&conv2d_pack, only_declared(conv2d_pack.attributes, for_pack),
                    &conv2d_inference, std::move(for_op)};
}

}  // namespace penstock::graph
