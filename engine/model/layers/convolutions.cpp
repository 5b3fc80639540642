// These are the convolutions of Model. Sequences are convolved as images of one row.
#include "engine/model/layers/inputs.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/convolution/conv_transpose2d.hpp"

namespace penstock {
namespace {

graph::Attributes attributes_of(const Conv2dOptions& options) {
  return {{"stride", pair(options.stride)},
          {"padding", pair(options.padding)},
          {"dilation", pair(options.dilation)},
          {"groups", options.groups}};
}

graph::Attributes attributes_of(const Conv1dOptions& options) {
  return attributes_of(Conv2dOptions{.stride = {1, options.stride},
                                     .padding = {0, options.padding},
                                     .dilation = {1, options.dilation},
                                     .groups = options.groups});
}

graph::Attributes attributes_of(const ConvTranspose2dOptions& options) {
  graph::Attributes attributes = attributes_of(Conv2dOptions{.stride = options.stride,
                                                             .padding = options.padding,
                                                             .dilation = options.dilation,
                                                             .groups = options.groups});
  attributes.set("output_padding", pair(options.output_padding));
  return attributes;
}

double area(Size2d size) {
  return static_cast<double>(size.rows) * static_cast<double>(size.columns);
}

/// Checks that `options` leave it to the weight and the bias what these decide.
template <class Options>
void expect_undecided(std::string_view op, const Options& options) {
  if (options.out_channels == 0 && options.kernel == 0 && options.bias) return;
  throw Error(Errc::invalid_argument,
              std::string(op) +
                  ": expected options without out_channels, kernel and bias, because the "
                  "convolution has the weight and the bias of another layer");
}

template <class Options>
void expect_sizes(const Layer& layer, const Options& options, Size2d kernel) {
  layer.expect_positive("out_channels", options.out_channels);
  layer.expect_positive("kernel", kernel.rows);
  layer.expect_positive("kernel", kernel.columns);
  layer.expect_positive("groups", options.groups);
}

Value as_image(ModelState& model, const Value& x, const std::string& name = "") {
  return reshaped(model, x, {0, 0, 1, -1}, name);
}

Value as_sequence(ModelState& model, const Value& image, const std::string& name = "") {
  return reshaped(model, image, {0, 0, -1}, name);
}

/// Adds `bias` [O] to each pixel of `image` [N,O,H,W], in a node called `name`.
Value plus_bias(ModelState& model, const Value& image, const Value& bias,
                const std::string& name = "") {
  const Value of_planes = reshaped(model, bias, {0, 1, 1}, name.empty() ? "" : name + "/bias");
  return model.apply(graph::add, {image, of_planes}, {}, name);
}

}  // namespace

Value Layers::conv2d(const std::string& name, Value x, const Conv2dOptions& options) {
  return impl_->calling(graph::conv2d.name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::conv2d, name, x);
    layer.expect_rank(4);
    expect_sizes(layer, options, options.kernel);
    const std::int64_t channels = layer.shape()[1] / options.groups;
    const auto [rows, columns] = options.kernel;
    const auto start = fan_in_uniform(static_cast<double>(channels) * area(options.kernel));
    layer.parameter("weight", {options.out_channels, channels, rows, columns}, start);
    if (options.bias) layer.parameter("bias", {options.out_channels}, start);
    return impl.finish(layer, attributes_of(options));
  });
}

Value Layers::conv2d(Value x, Value weight, Value bias, const Conv2dOptions& options) {
  return impl_->calling(graph::conv2d.name, [&](Impl& impl) {
    expect_undecided(graph::conv2d.name, options);
    return impl.apply(graph::conv2d, with_bias(x, weight, bias), attributes_of(options));
  });
}

Value Layers::conv1d(const std::string& name, Value x, const Conv1dOptions& options) {
  return impl_->calling("conv1d", [&](Impl& impl) {
    expect_rank(impl, "conv1d " + quoted_text(name), x, 3);
    NetworkBuilder::Draft draft(impl.network);
    impl.network.expect_new_layer(graph::conv2d, name);
    Layer layer = impl.layer(graph::conv2d, name, as_image(impl, x, name + "/image"));
    layer.call_node(name + "/product");
    expect_sizes(layer, options, {1, options.kernel});
    const std::int64_t channels = layer.shape()[1] / options.groups;
    const auto start =
        fan_in_uniform(static_cast<double>(channels) * static_cast<double>(options.kernel));
    layer.reshaped_parameter("weight", {options.out_channels, channels, options.kernel}, start,
                             {0, 0, 1, -1});
    if (options.bias) layer.parameter("bias", {options.out_channels}, start);
    const Value result = impl.finish(layer, attributes_of(options), [&](const Value& image) {
      return as_sequence(impl, image, name);
    });
    draft.keep();
    return result;
  });
}

Value Layers::conv1d(Value x, Value weight, Value bias, const Conv1dOptions& options) {
  return impl_->calling("conv1d", [&](Impl& impl) {
    expect_undecided("conv1d", options);
    expect_rank(impl, "conv1d", x, 3);
    NetworkBuilder::Draft draft(impl.network);
    const Value kernel = as_image(impl, weight);
    const Value image = impl.apply(graph::conv2d, with_bias(as_image(impl, x), kernel, bias),
                                   attributes_of(options));
    const Value result = as_sequence(impl, image);
    draft.keep();
    return result;
  });
}

Value Layers::conv_transpose2d(const std::string& name, Value x,
                               const ConvTranspose2dOptions& options) {
  return impl_->calling(graph::conv_transpose2d.name, [&](Impl& impl) {
    NetworkBuilder::Draft draft(impl.network);
    Layer layer = impl.layer(graph::conv_transpose2d, name, x);
    layer.expect_rank(4);
    expect_sizes(layer, options, options.kernel);
    const std::int64_t outputs = options.out_channels / options.groups;
    layer.expect(outputs * options.groups == options.out_channels,
                 "expected a number of out_channels that divides into " +
                     std::to_string(options.groups) + " groups, got " +
                     std::to_string(options.out_channels));
    const auto [rows, columns] = options.kernel;
    const auto start = fan_in_uniform(static_cast<double>(outputs) * area(options.kernel));
    layer.parameter("weight", {layer.shape()[1], outputs, rows, columns}, start);
    if (options.bias) layer.call_node(name + "/product");
    const Value bias = options.bias
                           ? impl.value(layer.free_parameter("bias", {options.out_channels}, start))
                           : Value();
    const Value result = impl.finish(layer, attributes_of(options), [&](const Value& image) {
      return bias ? plus_bias(impl, image, bias, name) : image;
    });
    draft.keep();
    return result;
  });
}

Value Layers::conv_transpose2d(Value x, Value weight, Value bias,
                               const ConvTranspose2dOptions& options) {
  return impl_->calling(graph::conv_transpose2d.name, [&](Impl& impl) {
    expect_undecided(graph::conv_transpose2d.name, options);
    NetworkBuilder::Draft draft(impl.network);
    Value result = impl.apply(graph::conv_transpose2d, {x, weight}, attributes_of(options));
    if (bias) result = plus_bias(impl, result, bias);
    draft.keep();
    return result;
  });
}

}  // namespace penstock
