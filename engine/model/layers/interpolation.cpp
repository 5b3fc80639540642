// This is the layer of Model that enlarges and reduces images by interpolation.
#include <algorithm>
#include <cmath>

#include "engine/model/layers/composition.hpp"
#include "graph/ops/arithmetic/interpolate.hpp"
#include "graph/ops/movement/index_select.hpp"
#include "graph/values/canonical_floats.hpp"
#include "graph/values/number_range.hpp"

namespace penstock {
namespace {

/// A Resizing says what becomes of one axis.
struct Resizing {
  std::int64_t before, after;
  double scale_factor;  ///< Places are computed from this factor or, if it is 0, from the sizes.
};

void expect_options(bool holds, const std::string& text) {
  if (!holds) throw Error(Errc::invalid_argument, "interpolate: " + text);
}

/// Checks that there is a number for each of `axes` axes, or one for all of them.
void expect_counts(const InterpolateOptions& options, std::size_t axes) {
  const std::size_t sizes = options.size.size(), factors = options.scale_factor.size();
  expect_options((sizes == 0) != (factors == 0),
                 std::string("expected either size or scale_factor, got ") +
                     (sizes == 0 ? "neither" : "both"));
  expect_options(sizes + factors == 1 || sizes + factors == axes,
                 "expected 1 number or " + std::to_string(axes) + " in " +
                     (sizes > 0 ? "size" : "scale_factor") + ", one for each axis behind the " +
                     "channels, got " + std::to_string(sizes + factors));
}

void expect_sound(const InterpolateOptions& options, std::size_t axes) {
  expect_counts(options, axes);
  expect_options(options.mode == InterpolateMode::linear || !options.align_corners,
                 "expected align_corners with InterpolateMode::linear only, got it with a "
                 "nearest mode; leave it false");
  expect_options(!options.recompute_scale_factor || !options.scale_factor.empty(),
                 "expected recompute_scale_factor with scale_factor only, got it with size; "
                 "leave it false");
  for (const double factor : options.scale_factor)
    check_f32("interpolate: scale_factor", factor, {.above_low = true});
}

/// Returns element `i` of `numbers`, or the only one.
template <class Number>
Number number_of(const std::vector<Number>& numbers, std::size_t i) {
  return numbers.size() == 1 ? numbers.front() : numbers[i];
}

/// Returns what becomes of axis number `i` behind the channels, which has `before` elements.
Resizing resizing_of(const InterpolateOptions& options, std::size_t i, std::int64_t before) {
  if (options.scale_factor.empty()) return {before, number_of(options.size, i), 0};
  const double factor = number_of(options.scale_factor, i);
  const double after = std::floor(static_cast<double>(before) * factor);
  constexpr double most = 0x1p30;  // The nearest modes list the elements that they take.
  expect_options(after <= most, "expected a scale_factor that gives an axis of " +
                                    std::to_string(before) +
                                    " elements at most 2^30 of them, got " + number_text(factor));
  return {before, static_cast<std::int64_t>(after), options.recompute_scale_factor ? 0 : factor};
}

/// Returns which elements of an axis become those of the result. PyTorch computes their places in
/// single precision, and so does this, because another rounding would choose other elements.
Integers nearest_elements(const Resizing& axis, bool exact) {
  const float step = axis.scale_factor > 0
                         ? static_cast<float>(1 / axis.scale_factor)
                         : static_cast<float>(axis.before) / static_cast<float>(axis.after);
  Integers elements;
  for (std::int64_t i = 0; i < axis.after; ++i) {
    const float place = std::floor((static_cast<float>(i) + (exact ? 0.5f : 0.0f)) * step);
    const auto last = static_cast<float>(axis.before - 1);
    elements.push_back(place < last ? static_cast<std::int64_t>(place) : axis.before - 1);
  }
  return elements;
}

Value resized(const Composition& layer, const Value& x, std::int64_t number, const Resizing& axis,
              const InterpolateOptions& options) {
  if (options.mode == InterpolateMode::linear)
    return layer.fixed(layer.apply(graph::interpolate, {x},
                                   {{"axis", number},
                                    {"size", axis.after},
                                    {"scale_factor", axis.scale_factor},
                                    {"align_corners", std::int64_t{options.align_corners}}}));
  const bool exact = options.mode == InterpolateMode::nearest_exact;
  return layer.fixed(layer.apply(graph::index_select, {x},
                                 {{"axis", number}, {"indices", nearest_elements(axis, exact)}}));
}

}  // namespace

Value SpatialLayers::interpolate(Value x, const InterpolateOptions& options) {
  return composed(*impl_, "interpolate", [&](const Composition& layer) {
    const CanonicalFloats floats;  // Sizes and elements do not depend on how the host rounds.
    const Shape shape = layer.shape(x);
    layer.expect(shape.rank() >= 3 && shape.rank() <= 5,
                 "expected x of rank 3 to 5, got " + to_string(shape));
    expect_sound(options, shape.rank() - 2);
    Value result = x;
    // PyTorch sums along a row first, and so does this, so that the sums round alike.
    for (std::size_t i = shape.rank() - 2; i-- > 0;) {
      const auto number = static_cast<std::int64_t>(i + 2);
      const Resizing axis = resizing_of(options, i, shape[number]);
      layer.expect(axis.before >= 1 && axis.after >= 1,
                   "expected 1 element or more along axis " + std::to_string(number) + " of x " +
                       to_string(shape) + " and of the result, got " + std::to_string(axis.after));
      result = resized(layer, result, number, axis, options);
    }
    return result;
  });
}

}  // namespace penstock
