// These are the poolings of Model that are given the size of the result.
#include <array>
#include <span>

#include "engine/model/layers/composition.hpp"
#include "engine/model/layers/inputs.hpp"
#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/convolution/avg_pool2d.hpp"
#include "graph/ops/convolution/max_pool2d.hpp"
#include "graph/ops/movement/concat.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/movement/slices.hpp"

namespace penstock {
namespace {

/// An AdaptivePooling has the ops that pool images whose windows are all of one size, and that
/// reduce one window.
struct AdaptivePooling {
  const graph::Op &pool, &reduce;
};

/// Windows that are not all of one size are pooled one by one. They may be as many as this along an
/// axis.
constexpr std::int64_t most_windows = 4096;

const AdaptivePooling averages{graph::avg_pool2d, graph::mean};
const AdaptivePooling maxima{graph::max_pool2d, graph::amax};

/// Checks that `x` has `rank` axes and at least one element, and that `sizes` are 1 or more.
/// @throws Error shape_mismatch for `x`; invalid_argument for `sizes`.
void expect_sound(const Composition& layer, const Value& x, std::size_t rank,
                  std::span<const std::int64_t> sizes) {
  layer.expect_rank(x, rank);
  layer.expect_elements(x);
  for (const std::int64_t size : sizes)
    if (size < 1)
      throw Error(Errc::invalid_argument,
                  std::string(layer.subject()) +
                      ": expected at least one window along each axis, got " +
                      std::to_string(size));
}

/// Divides `axis` of `x` into `windows` windows, and reduces each of them to one element by
/// `reduce`: all at once if they are of one size, and else one by one.
Value adapted(const Composition& layer, const graph::Op& reduce, const Value& x, std::int64_t axis,
              std::int64_t windows) {
  const Shape shape = layer.shape(x);
  const std::int64_t size = shape[axis];
  if (size == windows) return x;
  if (size % windows == 0) {
    Integers sizes(std::vector<std::int64_t>(shape.begin(), shape.end()));
    sizes[0] = 0;
    const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(axis);
    *at = windows;
    sizes.insert(at + 1, size / windows);
    return layer.apply(reduce, {layer.fixed(layer.reshaped(x, sizes))},
                       {{"axes", Integers{axis + 1}}});
  }
  // Each window takes two nodes.
  layer.expect(windows <= most_windows, "expected at most " + std::to_string(most_windows) +
                                            " windows of different sizes along an axis of " +
                                            std::to_string(size) + " elements, got " +
                                            std::to_string(windows));
  std::vector<Value> parts;
  for (std::int64_t window = 0; window < windows; ++window) {
    const std::int64_t begin = window * size / windows;
    const std::int64_t end = ((window + 1) * size + windows - 1) / windows;
    const Value part = layer.fixed(
        layer.apply(graph::slice, {x}, {{"axis", axis}, {"begin", begin}, {"end", end}}));
    parts.push_back(
        layer.apply(reduce, {part}, {{"axes", Integers{axis}}, {"keep", std::int64_t{1}}}));
  }
  return layer.apply(graph::concat, parts, {{"axis", axis}});
}

/// Pools x [N,C,H,W] to `size`: at once where all windows are of one size, and else along one axis
/// after the other, beginning with an axis that divides evenly. Where that makes the axis shorter,
/// the windows of the other axis are cut out of fewer elements.
Value adapted(const Composition& layer, const AdaptivePooling& by, const Value& x, Size2d size) {
  const Shape shape = layer.shape(x);
  if (shape[2] % size.rows == 0 && shape[3] % size.columns == 0)
    return layer.fixed(layer.apply(
        by.pool, {x}, {{"kernel", pair({shape[2] / size.rows, shape[3] / size.columns})}}));
  const auto rows = [&](const Value& of) { return adapted(layer, by.reduce, of, 2, size.rows); };
  const auto columns = [&](const Value& of) {
    return adapted(layer, by.reduce, of, 3, size.columns);
  };
  return shape[3] % size.columns == 0 ? rows(columns(x)) : columns(rows(x));
}

Value adapted_row(ModelState& model, std::string_view call, const AdaptivePooling& by,
                  const Value& x, std::int64_t size) {
  return composed(model, call, [&](const Composition& layer) {
    expect_sound(layer, x, 3, std::array{size});
    const Value image = layer.reshaped(x, {0, 0, 1, -1});
    return layer.reshaped(adapted(layer, by, image, {1, size}), {0, 0, -1});
  });
}

Value adapted_image(ModelState& model, std::string_view call, const AdaptivePooling& by,
                    const Value& x, Size2d size) {
  return composed(model, call, [&](const Composition& layer) {
    expect_sound(layer, x, 4, std::array{size.rows, size.columns});
    return adapted(layer, by, x, size);
  });
}

/// Pools x [N,C,D,H,W] to `size`: the slices at once, and the depth before or after them. The depth
/// comes first if it becomes shorter in windows of one size, and the slices have others.
Value adapted_volume(ModelState& model, std::string_view call, const AdaptivePooling& by,
                     const Value& x, Size3d size) {
  return composed(model, call, [&](const Composition& layer) {
    expect_sound(layer, x, 5, std::array{size.depth, size.rows, size.columns});
    const Shape shape = layer.shape(x);
    const auto slices = [&](const Value& of) {
      const Value images = layer.reshaped(of, {0, -1, shape[3], shape[4]});
      return adapted(layer, by, images, {size.rows, size.columns});
    };
    const auto depth = [&](const Value& of) {
      const Value lines = layer.reshaped(of, {0, shape[1], shape[2], -1});
      return adapted(layer, by, lines, {size.depth, layer.shape(lines)[3]});
    };
    const bool slices_are_even = shape[3] % size.rows == 0 && shape[4] % size.columns == 0;
    const bool depth_is_even = shape[2] % size.depth == 0 && shape[2] > size.depth;
    const Value pooled = depth_is_even && !slices_are_even ? slices(depth(x)) : depth(slices(x));
    return layer.reshaped(pooled, {0, shape[1], size.depth, size.rows, size.columns});
  });
}

}  // namespace

Value SpatialLayers::adaptive_avg_pool1d(Value x, std::int64_t size) {
  return adapted_row(*impl_, "adaptive_avg_pool1d", averages, x, size);
}

Value SpatialLayers::adaptive_max_pool1d(Value x, std::int64_t size) {
  return adapted_row(*impl_, "adaptive_max_pool1d", maxima, x, size);
}

Value SpatialLayers::adaptive_avg_pool2d(Value x, Size2d size) {
  return adapted_image(*impl_, "adaptive_avg_pool2d", averages, x, size);
}

Value SpatialLayers::adaptive_max_pool2d(Value x, Size2d size) {
  return adapted_image(*impl_, "adaptive_max_pool2d", maxima, x, size);
}

Value SpatialLayers::adaptive_avg_pool3d(Value x, Size3d size) {
  return adapted_volume(*impl_, "adaptive_avg_pool3d", averages, x, size);
}

Value SpatialLayers::adaptive_max_pool3d(Value x, Size3d size) {
  return adapted_volume(*impl_, "adaptive_max_pool3d", maxima, x, size);
}

}  // namespace penstock
