// These are the convolutions of Model for volumes.
#include "engine/model/layers/volume_convolution.hpp"
#include "graph/ops/convolution/conv2d.hpp"

namespace penstock {
namespace {

VolumeAxes axes_of(const Conv3dOptions& options, Size3d kernel) {
  const Size3d stride = options.stride, padding = options.padding, dilation = options.dilation;
  return {{{kernel.depth, stride.depth, padding.depth, dilation.depth},
           {kernel.rows, stride.rows, padding.rows, dilation.rows},
           {kernel.columns, stride.columns, padding.columns, dilation.columns}}};
}

PaddedInput input_of(const Conv3dOptions& options) {
  return {.same = options.same_padding, .mode = options.padding_mode};
}

}  // namespace

Value SpatialLayers::conv3d(const std::string& name, Value x, const Conv3dOptions& options) {
  return impl_->adding("conv3d", name, [&](Impl& impl) {
    const std::string subject = "conv3d " + quoted_text(name);
    Composition composition(impl, subject);
    composition.expect_rank(x, 5);
    impl.network.expect_new_layer("conv3d", name);
    const VolumeAxes axes = axes_of(options, options.kernel);
    expect_sizes(composition, options, axes);
    VolumeConvolution convolution(composition, axes, name);
    Layer layer =
        impl.layer(graph::conv2d, name, convolution.image(x, input_of(options), options.groups));
    layer.call_node(name + "/product");
    const std::int64_t channels = composition.shape(x)[1] / options.groups;
    const auto [depth, rows, columns] = options.kernel;
    const auto start = fan_in_uniform(static_cast<double>(channels) * static_cast<double>(depth) *
                                      static_cast<double>(rows) * static_cast<double>(columns));
    layer.reshaped_parameter("weight", {options.out_channels, channels, depth, rows, columns},
                             start, convolution.weight_shape(channels));
    if (options.bias) layer.parameter("bias", {options.out_channels}, start);
    const Value result =
        impl.finish(layer, convolution.attributes(options.groups),
                    [&](const Value& convolved) { return convolution.volume(convolved); });
    composition.keep();
    return result;
  });
}

Value SpatialLayers::conv3d(Value x, Value weight, Value bias, const Conv3dOptions& options) {
  return composed(*impl_, "conv3d", [&](const Composition& layer) {
    expect_undecided("conv3d", options);
    layer.expect_rank(x, 5);
    layer.expect_rank(weight, 5, "weight");
    const Shape kernel = layer.shape(weight);
    const std::int64_t channels = kernel[1] * options.groups;
    layer.expect(layer.shape(x)[1] == channels, "expected " + std::to_string(channels) +
                                                    " input channels, got " +
                                                    std::to_string(layer.shape(x)[1]));
    const std::string unnamed;
    VolumeConvolution convolution(layer, axes_of(options, {kernel[2], kernel[3], kernel[4]}),
                                  unnamed);
    const Value image = convolution.image(x, input_of(options), options.groups);
    const Value seen = layer.reshaped(weight, convolution.weight_shape(kernel[1]));
    return convolution.volume(layer.apply(graph::conv2d, with_bias(image, seen, bias),
                                          convolution.attributes(options.groups)));
  });
}

}  // namespace penstock
