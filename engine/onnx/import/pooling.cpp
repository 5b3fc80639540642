// The poolings, and the operators that change the sizes of images.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/import/convolutions.hpp"
#include "engine/onnx/import/operators.hpp"
#include "engine/onnx/import/resized_axis.hpp"
#include "engine/onnx/import/windows.hpp"
#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/matmul.hpp"
#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/arithmetic/vector_norm.hpp"
#include "graph/ops/movement/index_select.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/values/text.hpp"

namespace penstock {
namespace {

Value max_pooled(NodeImport& n, const Value& x, const Windows& w, const Dims& padding) {
  Model& model = n.network.model();
  const bool ceil = n.flag("ceil_mode");
  switch (w.axes()) {
    case 1:
      return model.max_pool1d(x, {.kernel = w.kernel[0],
                                  .stride = w.stride[0],
                                  .padding = padding[0],
                                  .dilation = w.dilation[0],
                                  .ceil_mode = ceil});
    case 2:
      return model.max_pool2d(x, {.kernel = {w.kernel[0], w.kernel[1]},
                                  .stride = {w.stride[0], w.stride[1]},
                                  .padding = {padding[0], padding[1]},
                                  .dilation = {w.dilation[0], w.dilation[1]},
                                  .ceil_mode = ceil});
    case 3:
      return model.max_pool3d(x, {.kernel = {w.kernel[0], w.kernel[1], w.kernel[2]},
                                  .stride = {w.stride[0], w.stride[1], w.stride[2]},
                                  .padding = {padding[0], padding[1], padding[2]},
                                  .dilation = {w.dilation[0], w.dilation[1], w.dilation[2]},
                                  .ceil_mode = ceil});
    default:
      n.expect_supported(false, "it pools over more than 3 axes");
      return {};
  }
}

/// Returns whether the windows can be padded by the pooling itself, which takes less than half a
/// window.
bool pads_itself(const Windows& windows) {
  for (std::size_t i = 0; i < windows.axes(); ++i)
    if (2 * windows.before[i] > windows.kernel[i]) return false;
  return windows.is_even();
}

Results max_pool(NodeImport& n) {
  n.expect_supported(!n.wants(1), "its output of indices has no counterpart");
  const Images images = images_of(n);
  const Windows windows = windows_of(n, images.sizes, {});
  if (pads_itself(windows))
    return {of_images(n, max_pooled(n, images.value, windows, windows.before))};
  constexpr double least = std::numeric_limits<float>::lowest();
  const Value padded = padded_images(n, images, windows, least);
  return {of_images(n, max_pooled(n, padded, windows, Dims(windows.axes(), 0)))};
}

Value average_pooled(NodeImport& n, const Value& x, const Windows& w, const Dims& padding,
                     bool count_padding) {
  Model& model = n.network.model();
  const bool ceil = n.flag("ceil_mode");
  switch (w.axes()) {
    case 1:
      return model.avg_pool1d(x, {.kernel = w.kernel[0],
                                  .stride = w.stride[0],
                                  .padding = padding[0],
                                  .ceil_mode = ceil,
                                  .count_include_pad = count_padding});
    case 2:
      return model.avg_pool2d(x, {.kernel = {w.kernel[0], w.kernel[1]},
                                  .stride = {w.stride[0], w.stride[1]},
                                  .padding = {padding[0], padding[1]},
                                  .ceil_mode = ceil,
                                  .count_include_pad = count_padding});
    case 3:
      return model.avg_pool3d(x, {.kernel = {w.kernel[0], w.kernel[1], w.kernel[2]},
                                  .stride = {w.stride[0], w.stride[1], w.stride[2]},
                                  .padding = {padding[0], padding[1], padding[2]},
                                  .ceil_mode = ceil,
                                  .count_include_pad = count_padding});
    default:
      n.expect_supported(false, "it pools over more than 3 axes");
      return {};
  }
}

/// Returns the means of the images in windows that have dilations. The zeros of the padding count.
/// Such means are a convolution of each channel with a kernel of equal weights that add up to 1.
Value dilated_means(NodeImport& n, const Images& images, const Windows& windows) {
  n.expect_supported(!n.flag("ceil_mode"), "its windows have dilations, and its ceil_mode is 1");
  Dims shape = windows.kernel;
  shape.insert(shape.begin(), {images.channels, 1});
  const double weight =
      static_cast<double>(images.channels) / static_cast<double>(Shape(shape).elements());
  const ConvolutionWeights weights{
      .weight = n.apply(graph::fill, {}, {{"shape", shape}, {"value", weight}}),
      .bias = {},
      .groups = images.channels};
  return convolution(n, padded_images(n, images, windows, 0), weights, windows,
                     Dims(windows.axes(), 0));
}

Results average_pool(NodeImport& n) {
  const Images images = images_of(n);
  const Windows windows = windows_of(n, images.sizes, {});
  const bool is_dilated =
      std::ranges::any_of(windows.dilation, [](std::int64_t dilation) { return dilation != 1; });
  const bool count_padding = n.flag("count_include_pad");
  if (!is_dilated && pads_itself(windows))
    return {of_images(n, average_pooled(n, images.value, windows, windows.before, count_padding))};
  const auto means_of = [&](const Images& each) {
    return is_dilated ? dilated_means(n, each, windows)
                      : average_pooled(n, padded_images(n, each, windows, 0), windows,
                                       Dims(windows.axes(), 0), true);
  };
  const Value means = means_of(images);
  if (count_padding) return {of_images(n, means)};
  // The means count the zeros of the padding, and the share of what is no padding puts that right.
  Dims ones(images.sizes.size() + 2, 1);
  std::ranges::copy(images.sizes, ones.begin() + 2);
  const Images all_ones{.value = n.apply(graph::fill, {}, {{"shape", ones}, {"value", 1.0}}),
                        .sizes = images.sizes,
                        .channels = 1};
  return {of_images(n, n.apply(graph::div, {means, means_of(all_ones)}))};
}

Results lp_pool(NodeImport& n) {
  Images images = images_of(n);
  const Windows windows = windows_of(n, images.sizes, {});
  for (const std::int64_t dilation : windows.dilation)
    n.expect_supported(dilation == 1, "its windows have dilations");
  images.value = n.apply(graph::abs, {images.value});
  const Value x = padded_images(n, images, windows, 0);
  Model& model = n.network.model();
  const double p = static_cast<double>(n.integer("p", 2));
  const bool ceil = n.flag("ceil_mode");
  const Dims &k = windows.kernel, &s = windows.stride;
  switch (windows.axes()) {
    case 1:
      return {
          of_images(n, model.lp_pool1d(x, p, {.kernel = k[0], .stride = s[0], .ceil_mode = ceil}))};
    case 2:
      return {of_images(
          n, model.lp_pool2d(x, p,
                             {.kernel = {k[0], k[1]}, .stride = {s[0], s[1]}, .ceil_mode = ceil}))};
    case 3:
      return {of_images(
          n, model.lp_pool3d(
                 x, p,
                 {.kernel = {k[0], k[1], k[2]}, .stride = {s[0], s[1], s[2]}, .ceil_mode = ceil}))};
    default:
      n.expect_supported(false, "it pools over more than 3 axes");
      return {};
  }
}

template <const graph::Op& op>
Results global_pool(NodeImport& n) {
  Dims axes;
  for (std::size_t axis = 2; axis < n.rank(0); ++axis)
    axes.push_back(n.network.axis_of_value(n.input(0), static_cast<std::int64_t>(axis)));
  graph::Attributes attributes{{"axes", axes}, {"keep", std::int64_t{1}}};
  if (&op == &graph::vector_norm) attributes.set("p", static_cast<double>(n.integer("p", 2)));
  return {n.like_first(n.apply(op, {n.value(0)}, std::move(attributes)))};
}

/// Returns a size without its fraction; what is no size becomes 0.
std::int64_t resized_size(double size) {
  return size >= 1 && size < 0x1p48 ? static_cast<std::int64_t>(size) : 0;
}

/// Gives all of `chosen` one scale, the smallest or the largest that they have, as the policy asks.
void keep_aspect_ratio(NodeImport& n, std::vector<ResizedAxis>& axes,
                       const std::vector<std::size_t>& chosen) {
  const std::string policy = n.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || chosen.empty()) return;
  n.expect(policy == "not_larger" || policy == "not_smaller",
           "expected a keep_aspect_ratio_policy that is stretch, not_larger or not_smaller, got " +
               quoted_text(policy));
  double scale = axes[chosen[0]].scale;
  for (const std::size_t i : chosen)
    scale =
        policy == "not_larger" ? std::min(scale, axes[i].scale) : std::max(scale, axes[i].scale);
  for (const std::size_t i : chosen) {
    axes[i].scale = scale;
    axes[i].after = resized_size(static_cast<double>(axes[i].before) * scale + 0.5);
  }
}

/// Returns the axes that the node resizes, which are all of them unless it chooses.
std::vector<std::size_t> chosen_axes(const NodeImport& n) {
  const std::size_t rank = n.rank(0);
  std::vector<std::size_t> chosen;
  for (const std::int64_t axis : n.integers("axes")) chosen.push_back(axis_of(axis, rank));
  if (!chosen.empty()) return chosen;
  chosen.resize(rank);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  return chosen;
}

/// Checks that a node which resizes `axes` axes has `count` scales or sizes.
void check_count(const NodeImport& n, std::size_t axes, std::size_t count) {
  n.expect(count == axes, "expected a scale or a size for each axis, which makes " +
                              std::to_string(axes) + " of them, got " + std::to_string(count));
}

/// Returns the scales of `axes` axes, or nothing if the node has sizes in place of them.
std::vector<double> scales_of(const NodeImport& n, std::size_t axes) {
  const std::size_t i = n.node.op_type == "Upsample" || n.opset < 11 ? 1 : 2;
  const Tensor known = n.has(i) ? NetworkImport::settled(n.known(i)) : Tensor();
  if (known && known.elements() > 0) {
    check_count(n, axes, static_cast<std::size_t>(known.elements()));
    return numbers_of(known);
  }
  const OnnxAttribute* const attribute = n.node.find("scales");
  if (!attribute || attribute->reals.empty()) return {};
  check_count(n, axes, attribute->reals.size());
  return {attribute->reals.begin(), attribute->reals.end()};
}

/// Returns the sizes of the result, and what each axis is multiplied by.
std::vector<ResizedAxis> resized_axes(NodeImport& n) {
  const std::vector<std::size_t> chosen = chosen_axes(n);
  const std::vector<double> scales = scales_of(n, chosen.size());
  std::array<Dims, probes> sizes;
  if (scales.empty() && n.has(3)) sizes = n.probed_integers(3);
  if (scales.empty()) check_count(n, chosen.size(), sizes[0].size());
  const ProbedDims dims = n.network.dims(n.input(0));
  std::vector<ResizedAxis> axes;
  for (const std::int64_t size : dims[0])
    axes.push_back({.before = size, .after = size, .scale = 1});
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    ResizedAxis& axis = axes[chosen[k]];
    if (!scales.empty()) {
      axis.scale = scales[k];
      axis.after = resized_size(static_cast<double>(axis.before) * axis.scale);
      continue;
    }
    if (sizes[0][k] == dims[0][chosen[k]] && sizes[1][k] == dims[1][chosen[k]]) continue;
    if (sizes[0][k] != sizes[1][k]) throw MixedSamples{"its size depends on the number of samples"};
    axis.after = sizes[0][k];
    axis.scale = static_cast<double>(axis.after) / static_cast<double>(axis.before);
  }
  if (scales.empty()) keep_aspect_ratio(n, axes, chosen);
  for (const ResizedAxis& axis : axes) n.expect(axis.after >= 1, "expected sizes of 1 or more");
  return axes;
}

Resizing resizing_of(const NodeImport& n) {
  const bool old = n.node.op_type == "Upsample" || n.opset < 11;
  Resizing resizing{
      .mode = n.text("mode", "nearest"),
      .coordinates = old ? "asymmetric" : n.text("coordinate_transformation_mode", "half_pixel"),
      .nearest = old ? "floor" : n.text("nearest_mode", "round_prefer_floor"),
      .cubic = n.real("cubic_coeff_a", -0.75),
      .exclude_outside = n.flag("exclude_outside")};
  if (resizing.mode == "bilinear" || resizing.mode == "trilinear") resizing.mode = "linear";
  n.expect_supported(!n.flag("antialias"), "its attribute antialias has no counterpart");
  n.expect_supported(resizing.is_known(),
                     "its mode " + quoted_text(resizing.mode) + " with the coordinates " +
                         quoted_text(resizing.coordinates) + " has no counterpart");
  return resizing;
}

Results resize(NodeImport& n) {
  Imported& x = n.input(0);
  const std::vector<ResizedAxis> axes = resized_axes(n);
  const Resizing resizing = resizing_of(n);
  Value result = n.value(0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].before == axes[i].after && axes[i].scale == 1) continue;
    const std::int64_t axis = n.network.axis_of_value(x, static_cast<std::int64_t>(i));
    if (resizing.mode == "nearest") {
      n.count_list(axes[i].after);
      result = n.apply(graph::index_select, {result},
                       {{"axis", axis}, {"indices", nearest_indices(axes[i], resizing)}});
      continue;
    }
    n.expect_supported(axes[i].before <= most_folded / axes[i].after,
                       "it resizes an axis from " + std::to_string(axes[i].before) + " to " +
                           std::to_string(axes[i].after) +
                           " elements by a matrix, which can have at most " +
                           std::to_string(most_folded) + " elements");
    n.count_floats(axes[i].before * axes[i].after);
    // Each element is a sum of elements of x along the axis: a product with a matrix.
    Imported matrix = n.network.constant(blend_matrix(axes[i], resizing), OnnxType::f32);
    const auto rank = static_cast<std::int64_t>(n.network.shape(result).size());
    Dims order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::swap(order[static_cast<std::size_t>(axis)], order.back());
    const bool is_last = axis == rank - 1;
    if (!is_last) result = n.apply(graph::transpose, {result}, {{"axes", order}});
    result = n.apply(graph::matmul, {result, n.network.value(matrix)});
    if (!is_last) result = n.apply(graph::transpose, {result}, {{"axes", order}});
  }
  return {n.like_first(result)};
}

}  // namespace

std::span<const OnnxOperator> pooling_operators() {
  static constexpr std::array<OnnxOperator, 8> operators{{
      {"AveragePool", average_pool},
      {"GlobalAveragePool", global_pool<graph::mean>},
      {"GlobalLpPool", global_pool<graph::vector_norm>},
      {"GlobalMaxPool", global_pool<graph::amax>},
      {"LpPool", lp_pool},
      {"MaxPool", max_pool},
      {"Resize", resize},
      {"Upsample", resize},
  }};
  return operators;
}

}  // namespace penstock
