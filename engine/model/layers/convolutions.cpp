// These are the convolutions of Model for sequences and images. Sequences are convolved as images
// of one row.
#include <array>

#include "engine/model/layers/convolved_axes.hpp"
#include "graph/ops/convolution/conv2d.hpp"

namespace penstock {
namespace {

std::array<ConvolvedAxis, 2> axes_of(const Conv2dOptions& options, Size2d kernel) {
  const Size2d stride = options.stride, padding = options.padding, dilation = options.dilation;
  return {{{kernel.rows, stride.rows, padding.rows, dilation.rows},
           {kernel.columns, stride.columns, padding.columns, dilation.columns}}};
}

std::array<ConvolvedAxis, 1> axes_of(const Conv1dOptions& options, std::int64_t kernel) {
  return {{{kernel, options.stride, options.padding, options.dilation}}};
}

template <class Options>
PaddedInput input_of(const Options& options) {
  return {.same = options.same_padding, .mode = options.padding_mode};
}

/// Returns the attributes of the convolution of an image of one row.
graph::Attributes attributes_of_row(const ConvolvedAxis& columns, std::int64_t groups) {
  return attributes_of(ConvolvedAxis{}, columns, groups);
}

Value as_image(ModelState& model, const Value& x, const std::string& name = "") {
  return reshaped(model, x, {0, 0, 1, -1}, name);
}

Value as_sequence(ModelState& model, const Value& image, const std::string& name = "") {
  return reshaped(model, image, {0, 0, -1}, name);
}

}  // namespace

Value SpatialLayers::conv2d(const std::string& name, Value x, const Conv2dOptions& options) {
  return impl_->adding(graph::conv2d.name, name, [&](Impl& impl) {
    const std::string subject = "conv2d " + quoted_text(name);
    Composition composition(impl, subject);
    composition.expect_rank(x, 4);
    impl.network.expect_new_layer("conv2d", name);
    auto axes = axes_of(options, options.kernel);
    expect_sizes(composition, options, axes);
    Layer layer = impl.layer(graph::conv2d, name,
                             padded_input(composition, x, axes, input_of(options), name));
    const std::int64_t channels = layer.shape()[1] / options.groups;
    const auto [rows, columns] = options.kernel;
    const auto start = fan_in_uniform(static_cast<double>(channels) * static_cast<double>(rows) *
                                      static_cast<double>(columns));
    layer.parameter("weight", {options.out_channels, channels, rows, columns}, start);
    if (options.bias) layer.parameter("bias", {options.out_channels}, start);
    const Value result = impl.finish(layer, attributes_of(axes[0], axes[1], options.groups));
    composition.keep();
    return result;
  });
}

Value SpatialLayers::conv2d(Value x, Value weight, Value bias, const Conv2dOptions& options) {
  return composed(*impl_, graph::conv2d.name, [&](const Composition& layer) {
    expect_undecided(graph::conv2d.name, options);
    const Shape kernel = layer.shape(weight);
    layer.expect_rank(x, 4);
    layer.expect_rank(weight, 4, "weight");
    auto axes = axes_of(options, {kernel[2], kernel[3]});
    const Value padded = padded_input(layer, x, axes, input_of(options), "");
    return layer.apply(graph::conv2d, with_bias(padded, weight, bias),
                       attributes_of(axes[0], axes[1], options.groups));
  });
}

Value SpatialLayers::conv1d(const std::string& name, Value x, const Conv1dOptions& options) {
  return impl_->adding("conv1d", name, [&](Impl& impl) {
    const std::string subject = "conv1d " + quoted_text(name);
    Composition composition(impl, subject);
    composition.expect_rank(x, 3);
    impl.network.expect_new_layer("conv1d", name);
    auto axes = axes_of(options, options.kernel);
    expect_sizes(composition, options, axes);
    const Value padded = padded_input(composition, x, axes, input_of(options), name);
    Layer layer = impl.layer(graph::conv2d, name, as_image(impl, padded, name + "/image"));
    layer.call_node(name + "/product");
    const std::int64_t channels = layer.shape()[1] / options.groups;
    const auto start =
        fan_in_uniform(static_cast<double>(channels) * static_cast<double>(options.kernel));
    layer.reshaped_parameter("weight", {options.out_channels, channels, options.kernel}, start,
                             {0, 0, 1, -1});
    if (options.bias) layer.parameter("bias", {options.out_channels}, start);
    const Value result =
        impl.finish(layer, attributes_of_row(axes[0], options.groups),
                    [&](const Value& image) { return as_sequence(impl, image, name); });
    composition.keep();
    return result;
  });
}

Value SpatialLayers::conv1d(Value x, Value weight, Value bias, const Conv1dOptions& options) {
  return impl_->adding("conv1d", [&](Impl& impl) {
    expect_undecided("conv1d", options);
    Composition layer(impl, "conv1d");
    layer.expect_rank(x, 3);
    layer.expect_rank(weight, 3, "weight");
    auto axes = axes_of(options, layer.shape(weight)[2]);
    const Value padded = padded_input(layer, x, axes, input_of(options), "");
    const Value kernel = as_image(impl, weight);
    const Value image = impl.apply(graph::conv2d, with_bias(as_image(impl, padded), kernel, bias),
                                   attributes_of_row(axes[0], options.groups));
    const Value result = as_sequence(impl, image);
    layer.keep();
    return result;
  });
}

}  // namespace penstock
