// These are the transposed convolutions of Model for volumes. Zeros are put between the elements of
// a volume, and the result is convolved with the mirrored kernel.
#include <array>
#include <string>

#include "engine/model/layers/volume_convolution.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/movement/index_select.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/values/number_range.hpp"

namespace penstock {
namespace {

/// A SpreadAxis says how a transposed convolution enlarges one axis.
struct SpreadAxis {
  ConvolvedAxis convolved;
  std::int64_t output_padding;

  /// Returns how many elements the convolution sees along an axis of `size` elements. A double
  /// holds the number, however large the sizes are.
  double length(std::int64_t size) const {
    const auto& [kernel, stride, padding, dilation] = convolved;
    return static_cast<double>(size - 1) * static_cast<double>(stride) + 1 +
           2 * (static_cast<double>(dilation) * static_cast<double>(kernel - 1) -
                static_cast<double>(padding)) +
           static_cast<double>(output_padding);
  }

  /// Returns which elements of an axis of `size` elements the convolution sees, in their order.
  /// Number `size` stands for a zero.
  Integers elements(std::int64_t size) const {
    const auto& [kernel, stride, padding, dilation] = convolved;
    const std::int64_t around = dilation * (kernel - 1) - padding;
    const std::int64_t last = (size - 1) * stride + around + output_padding;
    Integers numbers;
    for (std::int64_t place = -around; place <= last; ++place) {
      const bool taken = place >= 0 && place % stride == 0 && place / stride < size;
      numbers.push_back(taken ? place / stride : size);
    }
    return numbers;
  }
};

using SpreadAxes = std::array<SpreadAxis, 3>;

SpreadAxes axes_of(const ConvTranspose3dOptions& options, Size3d kernel) {
  const Size3d stride = options.stride, padding = options.padding, dilation = options.dilation,
               more = options.output_padding;
  return {{{{kernel.depth, stride.depth, padding.depth, dilation.depth}, more.depth},
           {{kernel.rows, stride.rows, padding.rows, dilation.rows}, more.rows},
           {{kernel.columns, stride.columns, padding.columns, dilation.columns}, more.columns}}};
}

/// Checks the numbers of an axis of x, which has `size` elements and is called `name`.
void expect_sound(const Composition& layer, const SpreadAxis& axis, std::int64_t size,
                  const std::string& name) {
  expect_sound(layer, axis.convolved);
  const std::int64_t stride = axis.convolved.stride, padding = axis.convolved.padding;
  layer.expect(padding >= 0 && padding <= largest_of_axis, "expected padding from 0 to " +
                                                               std::to_string(largest_of_axis) +
                                                               ", got " + std::to_string(padding));
  layer.expect(axis.output_padding >= 0 && axis.output_padding < stride,
               "expected an output padding from 0 to less than the stride, which is " +
                   std::to_string(stride) + ", got " + std::to_string(axis.output_padding));
  const double length = axis.length(size), most = static_cast<double>(largest_of_axis);
  layer.expect(length <= most, "expected at most 2^30 " + name +
                                   " of x with zeros between them, got " + number_text(length));
  layer.expect(length >= static_cast<double>(axis.convolved.extent()),
               "expected a padding that leaves some of the " + name + " of the result, got " +
                   std::to_string(padding));
}

/// Returns x with zeros between its elements and around them, as the convolution sees it.
Value spread(const Composition& layer, Value x, const SpreadAxes& axes, const std::string& name) {
  constexpr const char* names[] = {"slices", "rows", "columns"};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i + 2);
    const std::int64_t size = layer.shape(x)[axis];
    expect_sound(layer, axes[i], size, names[i]);
    Integers elements = axes[i].elements(size);
    const Value with_zero =
        layer.apply(graph::pad, {x}, {{"axis", axis}, {"after", std::int64_t{1}}},
                    inner_name(name, std::string("zero_") + names[i]));
    x = layer.fixed(layer.apply(graph::index_select, {with_zero},
                                {{"axis", axis}, {"indices", std::move(elements)}},
                                inner_name(name, std::string("spread_") + names[i])));
  }
  return x;
}

/// Returns the weight [C,O/groups,kd,kh,kw] as that of a convolution, [O,C/groups,kd,kh,kw], whose
/// kernels are mirrored.
Value mirrored(const Composition& layer, Value weight, std::int64_t groups,
               const std::string& name) {
  for (std::int64_t axis = 2; axis < 5; ++axis) {
    Integers backwards;
    for (std::int64_t i = layer.shape(weight)[axis]; i-- > 0;) backwards.push_back(i);
    weight = layer.apply(graph::index_select, {weight},
                         {{"axis", axis}, {"indices", std::move(backwards)}},
                         inner_name(name, "mirrored_" + std::to_string(axis)));
  }
  const Shape shape = layer.shape(weight);
  const std::int64_t inputs = shape[0] / groups, outputs = shape[1];
  const Value apart = layer.reshaped(
      weight, {groups, inputs, outputs, shape[2], shape[3], shape[4]}, inner_name(name, "groups"));
  const Value turned =
      layer.apply(graph::transpose, {apart}, {{"axes", Integers{0, 2, 1, 3, 4, 5}}},
                  inner_name(name, "turned"));
  return layer.reshaped(turned, {groups * outputs, inputs, shape[2], shape[3], shape[4]},
                        inner_name(name, "weight"));
}

/// Adds the transposed convolution of x by a weight of another layer or of its own. Its last node
/// is called `name`.
Value transposed(const Composition& layer, const Value& x, const Value& weight, const Value& bias,
                 const ConvTranspose3dOptions& options, const std::string& name) {
  layer.expect_rank(x, 5);
  layer.expect_rank(weight, 5, "weight");
  layer.expect_positive("groups", options.groups);
  const Shape kernel = layer.shape(weight);
  const std::int64_t channels = layer.shape(x)[1];
  layer.expect(channels == kernel[0], "expected " + std::to_string(kernel[0]) +
                                          " input channels, got " + std::to_string(channels));
  const SpreadAxes axes = axes_of(options, {kernel[2], kernel[3], kernel[4]});
  const Value volume = spread(layer, x, axes, name);
  VolumeAxes convolved;
  for (std::size_t i = 0; i < axes.size(); ++i)
    convolved[i] = {.kernel = axes[i].convolved.kernel, .dilation = axes[i].convolved.dilation};
  VolumeConvolution convolution(layer, convolved, name);
  const Value image = convolution.image(volume, {}, options.groups);
  const Value seen = layer.reshaped(mirrored(layer, weight, options.groups, name),
                                    convolution.weight_shape(channels / options.groups),
                                    inner_name(name, "kernel"));
  return convolution.volume(layer.apply(graph::conv2d, with_bias(image, seen, bias),
                                        convolution.attributes(options.groups),
                                        inner_name(name, "product")));
}

}  // namespace

Value SpatialLayers::conv_transpose3d(const std::string& name, Value x,
                                      const ConvTranspose3dOptions& options) {
  return composed(*impl_, "conv_transpose3d", name, [&](const Composition& layer) {
    layer.expect_new("conv_transpose3d", name);
    layer.expect_rank(x, 5);
    const auto [depth, rows, columns] = options.kernel;
    const ConvolvedAxis kernels[] = {{.kernel = depth}, {.kernel = rows}, {.kernel = columns}};
    expect_sizes(layer, options, kernels);
    const std::int64_t outputs = outputs_of_group(layer, options);
    const Initializer start =
        fan_in_uniform(static_cast<double>(outputs) * static_cast<double>(depth) *
                       static_cast<double>(rows) * static_cast<double>(columns));
    const Value weight = layer.parameter(name + ".weight",
                                         {layer.shape(x)[1], outputs, depth, rows, columns}, start);
    const Value bias =
        options.bias ? layer.parameter(name + ".bias", {options.out_channels}, start) : Value();
    return transposed(layer, x, weight, bias, options, name);
  });
}

Value SpatialLayers::conv_transpose3d(Value x, Value weight, Value bias,
                                      const ConvTranspose3dOptions& options) {
  return composed(*impl_, "conv_transpose3d", [&](const Composition& layer) {
    expect_undecided("conv_transpose3d", options);
    return transposed(layer, x, weight, bias, options, "");
  });
}

}  // namespace penstock
