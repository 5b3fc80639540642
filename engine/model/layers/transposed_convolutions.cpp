// These are the transposed convolutions of Model. Sequences are convolved as images of one row.
#include "engine/model/layers/convolved_axes.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/convolution/conv_transpose2d.hpp"

namespace penstock {
namespace {

ConvTranspose2dOptions of_one_row(const ConvTranspose1dOptions& options) {
  return {.out_channels = options.out_channels,
          .kernel = {1, options.kernel},
          .stride = {1, options.stride},
          .padding = {0, options.padding},
          .output_padding = {0, options.output_padding},
          .dilation = {1, options.dilation},
          .groups = options.groups,
          .bias = options.bias};
}

graph::Attributes attributes_of(const ConvTranspose2dOptions& options) {
  return {{"stride", pair(options.stride)},
          {"padding", pair(options.padding)},
          {"output_padding", pair(options.output_padding)},
          {"dilation", pair(options.dilation)},
          {"groups", options.groups}};
}

/// Adds `bias` [O], which is given the shape `seen`, to each place of `x` [N,O,...], in a node
/// called `name`. Returns `x` itself if there is no bias.
Value plus_bias(ModelState& model, const Value& x, const Value& bias, Integers seen,
                const std::string& name = "") {
  if (!bias) return x;
  const Value of_planes = reshaped(model, bias, std::move(seen), inner_name(name, "bias"));
  return model.apply(graph::add, {x, of_planes}, {}, name);
}

/// Checks the sizes, and returns the number of channels of the result for each group.
std::int64_t outputs_of(const Composition& layer, const ConvTranspose2dOptions& options) {
  const ConvolvedAxis axes[] = {{.kernel = options.kernel.rows},
                                {.kernel = options.kernel.columns}};
  expect_sizes(layer, options, axes);
  return outputs_of_group(layer, options);
}

Initializer start_of(std::int64_t outputs, Size2d kernel) {
  return fan_in_uniform(static_cast<double>(outputs) * static_cast<double>(kernel.rows) *
                        static_cast<double>(kernel.columns));
}

/// Adds the parameter NAME.bias, if there is to be one, and returns its value.
Value bias_of(ModelState& model, Layer& layer, const ConvTranspose2dOptions& options,
              const Initializer& start) {
  if (!options.bias) return {};
  return model.value(layer.free_parameter("bias", {options.out_channels}, start));
}

}  // namespace

Value SpatialLayers::conv_transpose2d(const std::string& name, Value x,
                                      const ConvTranspose2dOptions& options) {
  return impl_->adding(graph::conv_transpose2d.name, name, [&](Impl& impl) {
    const std::string subject = "conv_transpose2d " + quoted_text(name);
    Composition composition(impl, subject);
    composition.expect_rank(x, 4);
    Layer layer = impl.layer(graph::conv_transpose2d, name, x);
    const std::int64_t outputs = outputs_of(composition, options);
    const auto [rows, columns] = options.kernel;
    const Initializer start = start_of(outputs, options.kernel);
    layer.parameter("weight", {layer.shape()[1], outputs, rows, columns}, start);
    if (options.bias) layer.call_node(name + "/product");
    const Value bias = bias_of(impl, layer, options, start);
    const Value result = impl.finish(layer, attributes_of(options), [&](const Value& image) {
      return plus_bias(impl, image, bias, {0, 1, 1}, name);
    });
    composition.keep();
    return result;
  });
}

Value SpatialLayers::conv_transpose2d(Value x, Value weight, Value bias,
                                      const ConvTranspose2dOptions& options) {
  return impl_->adding(graph::conv_transpose2d.name, [&](Impl& impl) {
    expect_undecided(graph::conv_transpose2d.name, options);
    NetworkBuilder::Draft draft(impl.network);
    const Value product = impl.apply(graph::conv_transpose2d, {x, weight}, attributes_of(options));
    const Value result = plus_bias(impl, product, bias, {0, 1, 1});
    draft.keep();
    return result;
  });
}

Value SpatialLayers::conv_transpose1d(const std::string& name, Value x,
                                      const ConvTranspose1dOptions& options) {
  return impl_->adding("conv_transpose1d", name, [&](Impl& impl) {
    const std::string subject = "conv_transpose1d " + quoted_text(name);
    Composition composition(impl, subject);
    composition.expect_rank(x, 3);
    impl.network.expect_new_layer("conv_transpose1d", name);
    const ConvTranspose2dOptions row = of_one_row(options);
    const std::int64_t outputs = outputs_of(composition, row);
    const Initializer start = start_of(outputs, row.kernel);
    const Value image = reshaped(impl, x, {0, 0, 1, -1}, name + "/image");
    Layer layer = impl.layer(graph::conv_transpose2d, name, image);
    layer.call_node(name + "/product");
    layer.reshaped_parameter("weight", {layer.shape()[1], outputs, options.kernel}, start,
                             {0, 0, 1, -1});
    const Value bias = bias_of(impl, layer, row, start);
    const Value result = impl.finish(layer, attributes_of(row), [&](const Value& product) {
      const Value sequence = reshaped(impl, product, {0, 0, -1}, bias ? name + "/sequence" : name);
      return plus_bias(impl, sequence, bias, {0, 1}, name);
    });
    composition.keep();
    return result;
  });
}

Value SpatialLayers::conv_transpose1d(Value x, Value weight, Value bias,
                                      const ConvTranspose1dOptions& options) {
  return impl_->adding("conv_transpose1d", [&](Impl& impl) {
    expect_undecided("conv_transpose1d", options);
    Composition layer(impl, "conv_transpose1d");
    layer.expect_rank(x, 3);
    layer.expect_rank(weight, 3, "weight");
    const Value product =
        impl.apply(graph::conv_transpose2d,
                   {reshaped(impl, x, {0, 0, 1, -1}), reshaped(impl, weight, {0, 0, 1, -1})},
                   attributes_of(of_one_row(options)));
    const Value result = plus_bias(impl, reshaped(impl, product, {0, 0, -1}), bias, {0, 1});
    layer.keep();
    return result;
  });
}

}  // namespace penstock
