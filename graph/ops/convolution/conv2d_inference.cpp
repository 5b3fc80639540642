#include "graph/ops/convolution/conv2d_inference.hpp"

#include <string>
#include <utility>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/convolution/conv2d_pack.hpp"
#include "graph/ops/convolution/products/conv2d_products.hpp"
#include "graph/ops/norms/batch_norm_inference.hpp"
#include "graph/ops/norms/finish.hpp"
#include "graph/ops/rules/channels.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock::graph {

namespace {

/// The norm has this many inputs beside its x.
constexpr std::size_t norm_inputs = 4;

/// An InputParts divides the inputs of a node by what they serve. Each list but the first may be
/// empty.
template <class T>
struct InputParts {
  std::span<const T> convolution, norm, addend;

  InputParts(const Attributes& attributes, std::span<const T> inputs) {
    const std::size_t added = attribute::adds.of(attributes) && !inputs.empty() ? 1 : 0;
    const std::size_t rest = inputs.size() - added;
    const std::size_t normalised = rest > norm_inputs ? norm_inputs : 0;
    convolution = inputs.first(rest - normalised);
    norm = inputs.subspan(rest - normalised, normalised);
    addend = inputs.last(added);
  }
};

bool has_packed_weights(const Attributes& attributes) {
  return attributes.has(attribute::out_channels.name);
}

/// Returns the shape that the weights for x of the shape `x` had before they were packed.
Shape unpacked_shape(const Attributes& attributes, const Shape& x) {
  const Pair kernel = attribute::kernel.of(attributes);
  return {attribute::out_channels.of(attributes), x[1] / attribute::groups.of(attributes),
          kernel[0], kernel[1]};
}

Conv2dGeometry geometry(const Attributes& attributes, const Shape& x, const Shape& weight,
                        const Shape& y) {
  if (!has_packed_weights(attributes)) return {attributes, x, weight, y};
  Conv2dGeometry conv(attributes, x, unpacked_shape(attributes, x), y);
  conv.packed = true;
  return conv;
}

Conv2dGeometry geometry(const Attributes& attributes, Types in, Types out) {
  return geometry(attributes, in[0].shape, in[1].shape, out[0].shape);
}

/// Returns the type of the output of the convolution of `in`, whose weights are packed.
std::vector<TensorType> infer_packed(const Attributes& attributes, Types in) {
  expect_rank(in[0], 4, "x");
  expect_groups(in[0].shape[1], attribute::groups.of(attributes), "input");
  std::vector<TensorType> types(in.begin(), in.end());
  types[1].shape = unpacked_shape(attributes, in[0].shape);
  std::vector<TensorType> y = conv2d.infer(attributes, types);
  const Conv2dGeometry conv = geometry(attributes, types, y);
  expect(packs_weights(conv), "expected a convolution that packs its weights beforehand");
  expect_dtype(in[1], DType::f32, "weight");
  expect_shape(in[1], packed_weights_shape(conv), "weight");
  return y;
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  const InputParts<TensorType> parts(attributes, in);
  if (parts.convolution.size() != 2)
    expect_inputs(parts.convolution, 3, "x, weight, bias, beside those of a norm and an addend");
  const std::vector<TensorType> y = has_packed_weights(attributes)
                                        ? infer_packed(attributes, parts.convolution)
                                        : conv2d.infer(attributes, parts.convolution);
  expect_bounds(attributes);
  if (!parts.addend.empty()) expect_addend(parts.addend[0], y[0]);
  if (parts.norm.empty()) return y;
  std::vector<TensorType> normalised = y;
  normalised.insert(normalised.end(), parts.norm.begin(), parts.norm.end());
  return batch_norm_inference.infer(attributes, normalised);
}

std::int64_t workspace(const Attributes& attributes, Types in, Types out) {
  const Conv2dGeometry conv = geometry(attributes, in, out);
  return float_bytes * (convolve_floats(conv) +
                        (InputParts<TensorType>(attributes, in).norm.empty() ? 0 : conv.o));
}

std::int64_t units(const Attributes& attributes, Types in, Types out) {
  return convolve_units(geometry(attributes, in, out));
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  return geometry(attributes, in, out).cost();
}

/// Computes the factors of the norm, one for each channel, to `factors`, and lets `epilogue`
/// normalise. `norm` has the weight, bias, running_mean and running_var.
void normalise_by(std::span<const Operand> norm, double eps, float* factors, Epilogue& epilogue) {
  const auto weight = norm[0].f32();
  kernel_table().channel_norms.inverse_stds(norm[0].elements(), eps, norm[3].f32().data(), factors);
  for (std::size_t channel = 0; channel < weight.size(); ++channel)
    factors[channel] *= weight[channel];
  epilogue.mean = norm[2].f32().data();
  epilogue.factor = factors;
  epilogue.shift = norm[1].f32().data();
}

void forward(const KernelCall& call) {
  const InputParts<Operand> parts(call.attributes, call.inputs);
  const Operand &x = call.inputs[0], &weight = call.inputs[1], &y = call.outputs[0];
  const Conv2dGeometry conv = geometry(call.attributes, x.shape(), weight.shape(), y.shape());
  Epilogue epilogue{.low = static_cast<float>(attribute::lower_bound.of(call.attributes)),
                    .high = static_cast<float>(attribute::upper_bound.of(call.attributes))};
  if (!parts.norm.empty())
    normalise_by(parts.norm, attribute::norm_eps.of(call.attributes),
                 floats(call.workspace) + convolve_floats(conv), epilogue);
  if (!parts.addend.empty()) epilogue.addend = parts.addend[0].f32().data();
  convolve(conv, call.part, x.f32().data(), weight.f32().data(),
           parts.convolution.size() == 3 ? parts.convolution[2].f32().data() : nullptr, epilogue,
           y.f32().data(), floats(call.workspace));
}

std::vector<OpSample> samples() {
  using List = std::vector<std::int64_t>;
  const auto f32 = [](Shape shape) { return TensorType{DType::f32, shape}; };
  const auto with_norm = [&](std::vector<TensorType> inputs) {
    inputs.insert(inputs.end(), norm_inputs, f32({inputs[1].shape[0]}));
    return inputs;
  };
  std::vector<OpSample> all{
      {.inputs = with_norm({f32({2, 3, 6, 7}), f32({4, 3, 3, 3}), f32({4})})},
      {.inputs = with_norm({f32({2, 4, 7, 7}), f32({6, 2, 3, 3})}),
       .attributes = {{"stride", 2}, {"padding", 1}, {"groups", 2}, {"low", 0.0}, {"high", 6.0}}},
      {.inputs = with_norm({f32({2, 3, 10, 10}), f32({3, 1, 3, 3})}),
       .attributes = {{"groups", 3}, {"low", 0.0}}},
      {.inputs = with_norm({f32({2, 16, 5, 5}), f32({16, 1, 3, 3})}),
       .attributes = {{"groups", 16}, {"padding", 1}, {"high", 3.0}}},
      {.inputs = with_norm({f32({3, 48, 6, 5}), f32({32, 48, 3, 3})}),
       .attributes = {{"padding", 1}, {"low", 1.0}}},
      {.inputs = with_norm({f32({20, 40, 2, 2}), f32({48, 40, 2, 2})})},
      {.inputs = {f32({2, 2, 4, 3}), f32({3, 2, 2, 2}), f32({3})},
       .attributes = {{"low", 0.5}, {"high", 2.0}}},
      {.inputs = {f32({2, 4, 6, 6}), f32({3, 4, 1, 1}), f32({2, 3, 6, 6})},
       .attributes = {{"adds", 1}, {"low", 0.0}}},
      {.inputs = {f32({2, 16, 6, 6}), f32({1, 2, 144, 32}), f32({40})},
       .attributes = {{"padding", 1}, {"kernel", 3}, {"out_channels", 40}}},
      {.inputs = {f32({3, 32, 7, 7}), f32({2, 1, 96, 32})},
       .attributes = {{"groups", 2}, {"stride", 2}, {"kernel", List{3, 2}}, {"out_channels", 64}}}};
  for (OpSample& sample : all) {
    sample.low = 0.5;
    sample.high = 2;
  }
  return all;
}

/// Returns whether `node` is a convolution that does not clamp its sums.
bool is_unclamped_convolution(const Node& node) {
  if (node.op == &conv2d) return !attribute::relu.of(node.attributes);
  return node.op == &conv2d_inference && !is_clamped(node.attributes);
}

/// Lets `node` do what the norm `reader` does with the output of `node`. Returns whether it can.
bool join_norm(Node& node, const Node& reader) {
  if (attribute::adds.of(node.attributes) || node.inputs.size() > norm_inputs) return false;
  node.inputs.insert(node.inputs.end(), reader.inputs.begin() + 1, reader.inputs.end());
  node.attributes.set(std::string(attribute::norm_eps.name),
                      attribute::norm_eps.of(reader.attributes));
  return true;
}

/// Lets `node` do what `reader` does with its input `position`. Returns whether it can.
bool join(const Graph& graph, Node& node, const Node& reader, std::size_t position) {
  if (join_sum(graph, node, reader, position)) return true;
  if (position != 0) return false;
  return reader.op == &batch_norm_inference ? join_norm(node, reader) : join_clamp(node, reader);
}

}  // namespace

const Op conv2d_inference{
    .name = "conv2d_inference",
    .attributes = {attribute::stride, attribute::padding, attribute::dilation, attribute::groups,
                   attribute::norm_eps, attribute::adds, attribute::lower_bound,
                   attribute::upper_bound, attribute::kernel, attribute::out_channels},
    .infer = infer,
    .forward = forward,
    .cost = cost,
    .workspace = workspace,
    .units = units,
    .packed_form = packed_conv2d_form,
    .samples = samples};

std::optional<Node> joined_convolution(const Graph& graph, const Node& node, const Node& reader,
                                       std::size_t position) {
  if (!is_unclamped_convolution(node)) return std::nullopt;
  Node result = reader;
  result.name = node.name;
  result.op = &conv2d_inference;
  result.attributes = only_declared(conv2d_inference.attributes, node.attributes);
  result.inputs = node.inputs;
  if (!join(graph, result, reader, position)) return std::nullopt;
  return result;
}

}  // namespace penstock::graph
