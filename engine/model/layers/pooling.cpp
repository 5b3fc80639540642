// These are the poolings of Model. Sequences are pooled as images of one row.
#include <limits>

#include "engine/model/layers/composition.hpp"
#include "engine/model/layers/inputs.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/convolution/avg_pool2d.hpp"
#include "graph/ops/convolution/max_pool2d.hpp"
#include "graph/values/number_range.hpp"

namespace penstock {
namespace {

graph::Attributes attributes_of(const MaxPool2dOptions& options) {
  graph::Attributes attributes{{"kernel", pair(options.kernel)},
                               {"padding", pair(options.padding)}};
  if (options.stride != 0) attributes.set("stride", pair(options.stride));
  if (options.dilation != 1) attributes.set("dilation", pair(options.dilation));
  if (options.ceil_mode) attributes.set("ceil_mode", std::int64_t{1});
  return attributes;
}

graph::Attributes attributes_of(const AvgPool2dOptions& options) {
  graph::Attributes attributes = attributes_of(MaxPool2dOptions{.kernel = options.kernel,
                                                                .stride = options.stride,
                                                                .padding = options.padding,
                                                                .ceil_mode = options.ceil_mode});
  if (!options.count_include_pad) attributes.set("count_include_pad", std::int64_t{0});
  return attributes;
}

Size2d of_one_row(std::int64_t stride) {
  return stride == 0 ? Size2d(0) : Size2d(1, stride);
}

MaxPool2dOptions of_one_row(const MaxPool1dOptions& options) {
  return {.kernel = {1, options.kernel},
          .stride = of_one_row(options.stride),
          .padding = {0, options.padding},
          .dilation = {1, options.dilation},
          .ceil_mode = options.ceil_mode};
}

AvgPool2dOptions of_one_row(const AvgPool1dOptions& options) {
  return {.kernel = {1, options.kernel},
          .stride = of_one_row(options.stride),
          .padding = {0, options.padding},
          .ceil_mode = options.ceil_mode,
          .count_include_pad = options.count_include_pad};
}

/// Pools x [N,C,L] by `pool`, which pools images.
Value pooled_row(const Composition& layer, const graph::Op& pool, const Value& x,
                 graph::Attributes attributes) {
  layer.expect_rank(x, 3);
  const Value image = layer.apply(pool, {layer.reshaped(x, {0, 0, 1, -1})}, std::move(attributes));
  return layer.reshaped(image, {0, 0, -1});
}

Size3d stride_of(Size3d stride, Size3d kernel) {
  return stride == 0 ? kernel : stride;
}

/// Pools x [N,C,D,H,W] by `pool`, which pools images: first each slice, and then along the columns
/// of an image that has a row for each slice. The windows of a volume are all combinations of those
/// of its slices with those along its depth.
Value pooled_volume(const Composition& layer, const graph::Op& pool, const Value& x,
                    graph::Attributes of_slices, graph::Attributes of_depth) {
  layer.expect_rank(x, 5);
  const Shape shape = layer.shape(x);
  const Value slices = layer.fixed(layer.reshaped(x, {0, shape[1] * shape[2], shape[3], shape[4]}));
  const Value pooled = layer.apply(pool, {slices}, std::move(of_slices));
  const std::int64_t height = layer.shape(pooled)[2], width = layer.shape(pooled)[3];
  const Value lines = layer.reshaped(pooled, {0, shape[1], shape[2], height * width});
  const Value result = layer.apply(pool, {lines}, std::move(of_depth));
  return layer.reshaped(result, {0, 0, 0, height, width});
}

Value averaged_volume(const Composition& layer, const Value& x, const AvgPool3dOptions& options) {
  const Size3d kernel = options.kernel, stride = stride_of(options.stride, kernel),
               padding = options.padding;
  const AvgPool2dOptions slices{.kernel = {kernel.rows, kernel.columns},
                                .stride = {stride.rows, stride.columns},
                                .padding = {padding.rows, padding.columns},
                                .ceil_mode = options.ceil_mode,
                                .count_include_pad = options.count_include_pad};
  const AvgPool2dOptions depth{.kernel = {kernel.depth, 1},
                               .stride = {stride.depth, 1},
                               .padding = {padding.depth, 0},
                               .ceil_mode = options.ceil_mode,
                               .count_include_pad = options.count_include_pad};
  return pooled_volume(layer, graph::avg_pool2d, x, attributes_of(slices), attributes_of(depth));
}

/// Returns the roots of the sums of powers of x over windows. `average` returns the means over
/// windows of the size `kernel`.
Value lp_pooled(const Composition& layer, const Value& x, double norm, Size3d kernel,
                const auto& average) {
  // The norm and 1/norm are exponents in f32, where numbers closer to 0 than this count as 0.
  constexpr double least = double{std::numeric_limits<float>::min()}, most = 1 / least;
  if (!(norm >= least && norm <= most))
    throw Error(Errc::invalid_argument, std::string(layer.subject()) + ": expected a norm from " +
                                            number_text(least) + " to " + number_text(most) +
                                            ", got " + number_text(norm));
  const double cells = static_cast<double>(kernel.depth) * static_cast<double>(kernel.rows) *
                       static_cast<double>(kernel.columns);
  const auto sums_of = [&](const Value& means) {
    return layer.apply(graph::scale, {means}, {{"factor", cells}});
  };
  if (static_cast<float>(norm) == 1) return sums_of(average(x));
  const Value means = average(layer.apply(graph::pow, {x}, {{"exponent", norm}}));
  const Value sums = sums_of(layer.apply(graph::relu, {means}));
  return layer.apply(graph::pow, {sums}, {{"exponent", 1 / norm}});
}

}  // namespace

Value SpatialLayers::max_pool2d(Value x, const MaxPool2dOptions& options) {
  return impl_->add(graph::max_pool2d, {x}, [&] { return attributes_of(options); });
}

Value SpatialLayers::avg_pool2d(Value x, const AvgPool2dOptions& options) {
  return impl_->add(graph::avg_pool2d, {x}, [&] { return attributes_of(options); });
}

Value SpatialLayers::max_pool1d(Value x, const MaxPool1dOptions& options) {
  return composed(*impl_, "max_pool1d", [&](const Composition& layer) {
    return pooled_row(layer, graph::max_pool2d, x, attributes_of(of_one_row(options)));
  });
}

Value SpatialLayers::avg_pool1d(Value x, const AvgPool1dOptions& options) {
  return composed(*impl_, "avg_pool1d", [&](const Composition& layer) {
    return pooled_row(layer, graph::avg_pool2d, x, attributes_of(of_one_row(options)));
  });
}

Value SpatialLayers::max_pool3d(Value x, const MaxPool3dOptions& options) {
  return composed(*impl_, "max_pool3d", [&](const Composition& layer) {
    const Size3d kernel = options.kernel, stride = stride_of(options.stride, kernel),
                 padding = options.padding, dilation = options.dilation;
    const MaxPool2dOptions slices{.kernel = {kernel.rows, kernel.columns},
                                  .stride = {stride.rows, stride.columns},
                                  .padding = {padding.rows, padding.columns},
                                  .dilation = {dilation.rows, dilation.columns},
                                  .ceil_mode = options.ceil_mode};
    const MaxPool2dOptions depth{.kernel = {kernel.depth, 1},
                                 .stride = {stride.depth, 1},
                                 .padding = {padding.depth, 0},
                                 .dilation = {dilation.depth, 1},
                                 .ceil_mode = options.ceil_mode};
    return pooled_volume(layer, graph::max_pool2d, x, attributes_of(slices), attributes_of(depth));
  });
}

Value SpatialLayers::avg_pool3d(Value x, const AvgPool3dOptions& options) {
  return composed(*impl_, "avg_pool3d",
                  [&](const Composition& layer) { return averaged_volume(layer, x, options); });
}

Value SpatialLayers::lp_pool1d(Value x, double norm, const LpPool1dOptions& options) {
  return composed(*impl_, "lp_pool1d", [&](const Composition& layer) {
    const AvgPool1dOptions window{
        .kernel = options.kernel, .stride = options.stride, .ceil_mode = options.ceil_mode};
    return lp_pooled(layer, x, norm, {1, 1, options.kernel}, [&](const Value& powers) {
      return pooled_row(layer, graph::avg_pool2d, powers, attributes_of(of_one_row(window)));
    });
  });
}

Value SpatialLayers::lp_pool2d(Value x, double norm, const LpPool2dOptions& options) {
  return composed(*impl_, "lp_pool2d", [&](const Composition& layer) {
    const AvgPool2dOptions window{
        .kernel = options.kernel, .stride = options.stride, .ceil_mode = options.ceil_mode};
    const auto [rows, columns] = options.kernel;
    return lp_pooled(layer, x, norm, {1, rows, columns}, [&](const Value& powers) {
      return layer.apply(graph::avg_pool2d, {powers}, attributes_of(window));
    });
  });
}

Value SpatialLayers::lp_pool3d(Value x, double norm, const LpPool3dOptions& options) {
  return composed(*impl_, "lp_pool3d", [&](const Composition& layer) {
    const AvgPool3dOptions window{
        .kernel = options.kernel, .stride = options.stride, .ceil_mode = options.ceil_mode};
    return lp_pooled(layer, x, norm, options.kernel,
                     [&](const Value& powers) { return averaged_volume(layer, powers, window); });
  });
}

Value SpatialLayers::global_avg_pool2d(Value x) {
  return impl_->add(graph::global_avg_pool2d, {x});
}

}  // namespace penstock
