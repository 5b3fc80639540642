#include "graph/ops/convolution/conv_transpose2d.hpp"

#include <string>

#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/convolution/products/conv2d_products.hpp"
#include "graph/ops/rules/channels.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

namespace attribute {

constexpr PairAttribute output_padding{"output_padding", {0, 0}};

}  // namespace attribute
namespace {

Window2d window_of(const Attributes& attributes, const Shape& weight) {
  return conv_window(attributes, {weight[2], weight[3]});
}

/// Returns the number of rows (axis 0) or columns (axis 1) of the output.
std::int64_t output_size(const Attributes& attributes, const Window2d& window, const Shape& x,
                         std::size_t axis) {
  const std::int64_t added = attribute::output_padding.of(attributes)[axis];
  expect(added >= 0 && added < window.stride[axis],
         "expected an output padding from 0 to less than the stride, which is " +
             std::to_string(window.stride[axis]) + ", got " + std::to_string(added));
  const std::int64_t size = (x[static_cast<std::ptrdiff_t>(axis) + 2] - 1) * window.stride[axis] -
                            2 * window.padding[axis] + window.extent(axis) + added;
  expect(size >= 1, "expected an output of at least one pixel, got padding " +
                        std::to_string(window.padding[axis]) + ", which leaves " +
                        std::to_string(size));
  expect_padded(size + 2 * window.padding[axis]);
  return size;
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, weight");
  expect_image(in[0], "x");
  expect_image(in[1], "weight");
  expect_elements(in[0], "x");
  expect_elements(in[1], "weight");
  const Shape &x = in[0].shape, &weight = in[1].shape;
  const std::int64_t groups = attribute::groups.of(attributes);
  expect_groups(x[1], groups, "input");
  expect(x[1] == weight[0],
         "expected " + std::to_string(weight[0]) + " input channels, got " + std::to_string(x[1]));
  const Window2d window = window_of(attributes, weight);
  expect_window(window);
  return {{DType::f32,
           {x[0], weight[1] * groups, output_size(attributes, window, x, 0),
            output_size(attributes, window, x, 1)}}};
}

/// Returns the geometry of a convolution that maps y to x. The gradient of its input is what the
/// transposed convolution computes.
Conv2dGeometry geometry(const Attributes& attributes, const Shape& x, const Shape& weight,
                        const Shape& y) {
  return {attributes, y, weight, x};
}

Conv2dGeometry geometry(const Attributes& attributes, Types in, Types out) {
  return geometry(attributes, in[0].shape, in[1].shape, out[0].shape);
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &weight = call.inputs[1], &y = call.outputs[0];
  convolve_input_gradient(geometry(call.attributes, x.shape(), weight.shape(), y.shape()),
                          call.part, x.f32().data(), weight.f32().data(), y.f32().data(),
                          floats(call.workspace));
}

/// Returns the attributes that a convolution has, too.
Attributes of_convolution(const Attributes& attributes) {
  Attributes result;
  for (const auto& [name, value] : attributes)
    if (name != attribute::output_padding.name) result.set(name, value);
  return result;
}

void backward(GradientContext& context) {
  const ValueId x = context.input(0), weight = context.input(1), dy = context.gradient(0);
  const Shape kernel = context.type(weight).shape;
  const Attributes attributes = of_convolution(context.attributes());
  Attributes for_weight = attributes;
  for_weight.set("kernel", std::vector<std::int64_t>{kernel[2], kernel[3]});
  if (context.needs(0)) context.set(0, context.emit(conv2d, {dy, weight}, attributes));
  if (context.needs(1))
    context.set(1, context.emit(conv2d_weight_gradient, {dy, x}, std::move(for_weight)));
}

Cost cost(const Attributes& attributes, Types in, Types out) {
  return geometry(attributes, in, out).cost();
}

std::int64_t workspace(const Attributes& attributes, Types in, Types out) {
  return float_bytes * convolve_input_gradient_floats(geometry(attributes, in, out));
}

std::int64_t units(const Attributes& attributes, Types in, Types out) {
  return convolve_input_gradient_units(geometry(attributes, in, out));
}

std::vector<OpSample> samples() {
  const auto f32 = [](Shape shape) { return TensorType{DType::f32, shape}; };
  using List = std::vector<std::int64_t>;
  return {{.inputs = {f32({2, 3, 4, 5}), f32({3, 4, 3, 3})}},
          {.inputs = {f32({2, 2, 3, 4}), f32({2, 5, 2, 3})},
           .attributes = {{"stride", List{3, 2}},
                          {"padding", List{0, 1}},
                          {"output_padding", List{2, 1}}}},
          {.inputs = {f32({1, 4, 5, 3}), f32({4, 3, 3, 2})},
           .attributes = {{"groups", 2}, {"dilation", 2}, {"stride", 2}, {"padding", 1}}},
          {.inputs = {f32({2, 3, 4, 4}), f32({3, 1, 4, 4})},
           .attributes = {{"groups", 3}, {"stride", 2}, {"padding", 1}}}};
}

}  // namespace

const Op conv_transpose2d{.name = "conv_transpose2d",
                          .onnx = "ConvTranspose",
                          .attributes = {attribute::stride, attribute::padding, attribute::dilation,
                                         attribute::groups, attribute::output_padding},
                          .infer = infer,
                          .forward = forward,
                          .backward = backward,
                          .cost = cost,
                          .workspace = workspace,
                          .units = units,
                          .samples = samples};

}  // namespace penstock::graph
