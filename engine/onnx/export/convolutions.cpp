// These functions write the convolutions, poolings and interpolations of images.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/onnx/export/op_exports.hpp"
#include "graph/ops/arithmetic/interpolate.hpp"
#include "graph/ops/convolution/avg_pool2d.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/convolution/conv_transpose2d.hpp"
#include "graph/ops/convolution/max_pool2d.hpp"
#include "graph/ops/rules/window2d.hpp"

namespace penstock {
namespace {

Dims list_of(const graph::Pair& pair) {
  return {pair[0], pair[1]};
}

/// Returns the attributes that say how a window slides.
OnnxSettings window_settings(const graph::Window2d& window) {
  const auto [top, left] = window.padding;
  return {integers_setting("kernel_shape", list_of(window.kernel)),
          integers_setting("strides", list_of(window.stride)),
          integers_setting("pads", {top, left, top, left}),
          integers_setting("dilations", list_of(window.dilation))};
}

OnnxSettings convolution_settings(const NodeExport& n) {
  const Shape& weight = n.type(1).shape;
  OnnxSettings settings = window_settings(graph::conv_window(n.attributes, {weight[2], weight[3]}));
  settings.push_back(integer_setting("group", n.attributes.integer("groups", 1)));
  return settings;
}

void conv2d(NodeExport& n) {
  const std::string y = n.add("Conv", n.inputs(), convolution_settings(n));
  n.result_is(n.attributes.flag("relu") ? n.add("Relu", {y}) : y);
}

void conv_transpose2d(NodeExport& n) {
  constexpr graph::PairAttribute output_padding{"output_padding", {0, 0}};
  OnnxSettings settings = convolution_settings(n);
  settings.push_back(integers_setting("output_padding", list_of(output_padding.of(n.attributes))));
  n.result("ConvTranspose", n.inputs(), settings);
}

/// Sets the padding behind the image so that exactly as many windows fit as the model has. The last
/// window may begin near the end of the image, where the rounding up of ONNX would add another one.
void pad_for_last_window(const NodeExport& n, const graph::Window2d& window,
                         OnnxSettings& settings) {
  Dims& pads = std::ranges::find(settings, "pads", &OnnxAttribute::name)->integers;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const auto number = static_cast<std::ptrdiff_t>(axis) + 2;
    const std::int64_t covered =
        (n.result_type().shape[number] - 1) * window.stride[axis] + window.extent(axis);
    pads[axis + 2] =
        std::max<std::int64_t>(0, covered - n.type().shape[number] - window.padding[axis]);
  }
}

/// Returns how many windows there are along an axis if ONNX rounds up.
std::int64_t rounded_up(const NodeExport& n, const graph::Window2d& window, std::size_t axis) {
  const std::int64_t size = n.type().shape[static_cast<std::ptrdiff_t>(axis) + 2];
  const std::int64_t left = size + 2 * window.padding[axis] - window.extent(axis);
  return (left + window.stride[axis] - 1) / window.stride[axis] + 1;
}

/// Returns the attributes of a pooling. `counts_padding` says whether means count zeros around the
/// image.
OnnxSettings pool_settings(const NodeExport& n, bool counts_padding) {
  const graph::Window2d window = graph::pool_window(n.attributes);
  OnnxSettings settings = window_settings(window);
  if (!n.attributes.flag("ceil_mode")) return settings;
  const Shape& y = n.result_type().shape;
  if (rounded_up(n, window, 0) == y[2] && rounded_up(n, window, 1) == y[3])
    settings.push_back(integer_setting("ceil_mode", 1));
  else if (counts_padding)
    refuse_export("ONNX would count padding in windows that end outside of the image");
  else
    pad_for_last_window(n, window, settings);
  return settings;
}

void max_pool2d(NodeExport& n) {
  n.result("MaxPool", n.inputs(), pool_settings(n, false));
}

void avg_pool2d(NodeExport& n) {
  const bool has_padding = graph::pool_window(n.attributes).padding != graph::Pair{0, 0};
  // Without padding, ONNX would still count what windows have outside of the image.
  const bool counts_padding = n.attributes.flag("count_include_pad", true) && has_padding;
  OnnxSettings settings = pool_settings(n, counts_padding);
  std::erase_if(settings, [](const OnnxAttribute& each) { return each.name == "dilations"; });
  settings.push_back(integer_setting("count_include_pad", counts_padding ? 1 : 0));
  n.result("AveragePool", n.inputs(), settings);
}

/// Returns whether an axis of `before` elements has `after` ones at a scale. Runtimes compute that
/// in single or in double precision.
bool gives(float scale, std::int64_t before, std::int64_t after) {
  const auto from = static_cast<float>(before);
  return std::floor(from * scale) == static_cast<float>(after) &&
         std::floor(double{from} * double{scale}) == static_cast<double>(after);
}

/// Returns a scale at which an axis of `before` elements has `after` ones.
float scale_between(std::int64_t before, std::int64_t after) {
  const auto to = static_cast<float>(after);
  const float scale = to / static_cast<float>(before);
  return gives(scale, before, after) ? scale : std::nextafter(scale, to + 1);
}

/// Writes the linear interpolation along one axis.
void interpolate(NodeExport& n) {
  const std::int64_t axis = n.axis(0);
  const std::int64_t before = n.size(0, axis), after = n.result_type().shape[axis];
  if (before == after) return n.result_is(n.input(0));
  const auto factor = static_cast<float>(n.attributes.real("scale_factor"));
  std::vector<float> scales(static_cast<std::size_t>(n.rank()), 1);
  scales[static_cast<std::size_t>(axis)] =
      factor > 0 && gives(factor, before, after) ? factor : scale_between(before, after);
  const std::string constant =
      n.nodes().constant(Tensor({n.rank()}, std::span<const float>(scales)));
  const bool aligns = n.attributes.flag("align_corners");
  n.result("Resize", {n.input(0), "", constant},
           {text_setting("mode", "linear"), text_setting("coordinate_transformation_mode",
                                                         aligns ? "align_corners" : "half_pixel")});
}

}  // namespace

std::span<const OpExport> convolution_exports() {
  static constexpr std::array<OpExport, 6> exports{{
      {&graph::avg_pool2d, avg_pool2d},
      {&graph::conv2d, conv2d},
      {&graph::conv_transpose2d, conv_transpose2d},
      {&graph::global_avg_pool2d, write_same_operator},
      {&graph::interpolate, interpolate},
      {&graph::max_pool2d, max_pool2d},
  }};
  return exports;
}

}  // namespace penstock
