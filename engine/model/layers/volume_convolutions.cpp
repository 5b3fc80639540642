// These are the convolutions of Model for volumes. A volume becomes an image: the slices that a
// window sees become channels, and the rows of all windows' slices lie below each other. A part of
// the rows of the convolved image is then the result. The others belong to windows that would begin
// in one slice and end in the next.
#include <array>

#include "engine/model/layers/convolved_axes.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/movement/index_select.hpp"
#include "graph/ops/movement/slices.hpp"

namespace penstock {
namespace {

/// A VolumeAxes has the axes of a volume, from slice to slice, along a column and along a row.
using VolumeAxes = std::array<ConvolvedAxis, 3>;

VolumeAxes axes_of(const Conv3dOptions& options, Size3d kernel) {
  const Size3d stride = options.stride, padding = options.padding, dilation = options.dilation;
  return {{{kernel.depth, stride.depth, padding.depth, dilation.depth},
           {kernel.rows, stride.rows, padding.rows, dilation.rows},
           {kernel.columns, stride.columns, padding.columns, dilation.columns}}};
}

/// Returns how many windows fit along an axis of `size` elements with its padding.
std::int64_t places(const Composition& layer, const ConvolvedAxis& axis, std::int64_t size,
                    const std::string& name) {
  layer.expect(axis.extent() <= size, "expected a kernel of at most " + std::to_string(size) + " " +
                                          name + ", which the padded input has, got " +
                                          std::to_string(axis.extent()));
  return (size - axis.extent()) / axis.stride + 1;
}

/// A VolumeConvolution adds a convolution of volumes to a model, by way of one of images. The nodes
/// have names if the layer has one.
class VolumeConvolution {
 public:
  VolumeConvolution(const Composition& layer, const VolumeAxes& axes, const std::string& name)
      : layer_(layer), axes_(axes), name_(name) {}

  /// Returns the image [N,C·kd,OD·H,W] of x, with its padding.
  Value image(Value x, const Conv3dOptions& options) {
    const PaddedInput input{
        .same = options.same_padding, .mode = options.padding_mode, .first_by_convolution = 2};
    for (const ConvolvedAxis& axis : axes_) expect_sound(layer_, axis);
    layer_.expect(options.groups >= 1 && layer_.shape(x)[1] % options.groups == 0,
                  "expected a number of input channels that divides into " +
                      std::to_string(options.groups) + " groups, got " +
                      std::to_string(layer_.shape(x)[1]));
    const Value volume = padded_input(layer_, x, axes_, input, name_);
    const Shape padded = layer_.shape(volume);
    depth_ = places(layer_, axes_[0], padded[2], "slices");
    height_ = places(layer_, axes_[1], padded[3], "rows");
    const Value filled = with_whole_strides(volume);
    height_of_slice_ = layer_.shape(filled)[3];
    const Value windows = selected(filled, 2, slices(), "slices");
    return layer_.fixed(
        layer_.reshaped(windows, {0, padded[1] * axes_[0].kernel, depth_ * height_of_slice_, -1},
                        inner_name(name_, "image")));
  }

  graph::Attributes attributes(std::int64_t groups) const {
    return attributes_of(axes_[1], axes_[2], groups);
  }

  /// Returns the shape in which the convolution of images sees the weight [O,C/groups,kd,kh,kw].
  Integers weight_shape(std::int64_t group_channels) const {
    return {0, group_channels * axes_[0].kernel, axes_[1].kernel, axes_[2].kernel};
  }

  /// Returns the result [N,O,OD,OH,OW] from the convolved image.
  Value volume(Value convolved) const {
    const Value chosen = selected(convolved, 2, rows(), "rows");
    return layer_.reshaped(chosen, {0, 0, depth_, height_, -1}, name_);
  }

 private:
  /// Returns `volume` with rows at the end of each slice, so that windows of all slices begin in
  /// rows that are whole strides apart.
  Value with_whole_strides(Value volume) const {
    const std::int64_t over = layer_.shape(volume)[3] % axes_[1].stride;
    if (over == 0) return volume;
    return layer_.apply(graph::pad, {volume},
                        {{"axis", std::int64_t{3}}, {"after", axes_[1].stride - over}},
                        inner_name(name_, "whole_strides"));
  }

  /// Returns the slices that the first element of the kernel sees in all windows, then those that
  /// the second one sees, and so on.
  Integers slices() const {
    Integers numbers;
    for (std::int64_t k = 0; k < axes_[0].kernel; ++k)
      for (std::int64_t place = 0; place < depth_; ++place)
        numbers.push_back(place * axes_[0].stride + k * axes_[0].dilation);
    return numbers;
  }

  /// Returns the rows of the convolved image that belong to the result.
  Integers rows() const {
    Integers numbers;
    for (std::int64_t slice = 0; slice < depth_; ++slice)
      for (std::int64_t row = 0; row < height_; ++row)
        numbers.push_back(slice * (height_of_slice_ / axes_[1].stride) + row);
    return numbers;
  }

  /// Returns the elements of `axis` that `indices` list, or x itself if these are all in order.
  Value selected(Value x, std::int64_t axis, Integers indices, const std::string& part) const {
    bool all = std::ssize(indices) == layer_.shape(x)[axis];
    for (std::size_t i = 0; i < indices.size(); ++i)
      all = all && indices[i] == static_cast<std::int64_t>(i);
    if (all) return x;
    return layer_.apply(graph::index_select, {x}, {{"axis", axis}, {"indices", std::move(indices)}},
                        inner_name(name_, part));
  }

  const Composition& layer_;
  VolumeAxes axes_;
  const std::string& name_;
  std::int64_t depth_ = 0, height_ = 0;  // These are the numbers of slices and rows of the result.
  std::int64_t height_of_slice_ = 0;     // Each slice has this many rows in the image.
};

}  // namespace

Value SpatialLayers::conv3d(const std::string& name, Value x, const Conv3dOptions& options) {
  return impl_->calling("conv3d", [&](Impl& impl) {
    const std::string subject = "conv3d " + quoted_text(name);
    Composition composition(impl, subject);
    composition.expect_rank(x, 5);
    impl.network.expect_new_layer(graph::conv2d, name);
    const VolumeAxes axes = axes_of(options, options.kernel);
    expect_sizes(composition, options, axes);
    VolumeConvolution convolution(composition, axes, name);
    Layer layer = impl.layer(graph::conv2d, name, convolution.image(x, options));
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
    const Value image = convolution.image(x, options);
    const Value seen = layer.reshaped(weight, convolution.weight_shape(kernel[1]));
    return convolution.volume(layer.apply(graph::conv2d, with_bias(image, seen, bias),
                                          convolution.attributes(options.groups)));
  });
}

}  // namespace penstock
