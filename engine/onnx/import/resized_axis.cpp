#include "engine/onnx/import/resized_axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

namespace penstock {
namespace {

/// Returns where in x the element number `i` of the result lies, in single precision as other
/// runtimes compute it, because another rounding would choose other elements.
float place_of(const ResizedAxis& axis, const Resizing& resizing, std::int64_t i) {
  const auto to = static_cast<float>(i), scale = static_cast<float>(axis.scale),
             before = static_cast<float>(axis.before);
  if (resizing.coordinates == "asymmetric") return to / scale;
  if (resizing.coordinates == "align_corners")
    return axis.after == 1 ? 0 : to * (before - 1) / (before * scale - 1);
  if (resizing.coordinates == "tf_half_pixel_for_nn") return (to + 0.5f) / scale;
  if (resizing.coordinates == "pytorch_half_pixel" && axis.after == 1) return 0;
  const float place = (to + 0.5f) / scale - 0.5f;
  // The middle of the result lies in the middle of x, even if the size of the result was rounded.
  if (resizing.coordinates == "half_pixel_symmetric")
    return before / 2 * (1 - static_cast<float>(axis.after) / (before * scale)) + place;
  return place;
}

double rounded(double place, const std::string& mode) {
  if (mode == "floor") return std::floor(place);
  if (mode == "ceil") return std::ceil(place);
  if (mode == "round_prefer_ceil") return std::floor(place + 0.5);
  return std::ceil(place - 0.5);
}

/// A Blend has the weights of neighbouring elements, the first of which is number `first`.
struct Blend {
  std::int64_t first;
  std::array<double, 4> weights;
};

Blend linear_blend(double place) {
  const double first = std::floor(place), share = place - first;
  return {static_cast<std::int64_t>(first), {1 - share, share, 0, 0}};
}

// The cubic convolution is that of Keys (1981).
Blend cubic_blend(double place, double a) {
  const double first = std::floor(place), t = place - first;
  const auto near = [a](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [a](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {static_cast<std::int64_t>(first) - 1, {far(t + 1), near(t), near(1 - t), far(2 - t)}};
}

}  // namespace

bool Resizing::is_known() const {
  const auto is_one_of = [](const std::string& text, std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return text == name; });
  };
  return is_one_of(mode, {"nearest", "linear", "cubic"}) &&
         is_one_of(coordinates, {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                 "asymmetric", "align_corners", "tf_half_pixel_for_nn"}) &&
         is_one_of(nearest, {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"});
}

std::vector<std::int64_t> nearest_indices(const ResizedAxis& axis, const Resizing& resizing) {
  std::vector<std::int64_t> indices;
  indices.reserve(static_cast<std::size_t>(axis.after));
  for (std::int64_t i = 0; i < axis.after; ++i)
    indices.push_back(std::clamp<std::int64_t>(
        static_cast<std::int64_t>(rounded(double{place_of(axis, resizing, i)}, resizing.nearest)),
        0, axis.before - 1));
  return indices;
}

Tensor blend_matrix(const ResizedAxis& axis, const Resizing& resizing) {
  const auto columns = static_cast<std::size_t>(axis.after);
  const std::size_t count = static_cast<std::size_t>(axis.before) * columns;
  const std::shared_ptr<float[]> matrix(new float[count]());
  for (std::size_t column = 0; column < columns; ++column) {
    const double place = double{place_of(axis, resizing, static_cast<std::int64_t>(column))};
    Blend blend =
        resizing.mode == "linear" ? linear_blend(place) : cubic_blend(place, resizing.cubic);
    double sum = 0;
    for (std::size_t k = 0; k < blend.weights.size(); ++k) {
      const std::int64_t from = blend.first + static_cast<std::int64_t>(k);
      if (resizing.exclude_outside && (from < 0 || from >= axis.before)) blend.weights[k] = 0;
      sum += blend.weights[k];
    }
    const auto row_of = [&](std::size_t k) {
      return static_cast<std::size_t>(
          std::clamp<std::int64_t>(blend.first + static_cast<std::int64_t>(k), 0, axis.before - 1));
    };
    for (std::size_t k = 0; k < blend.weights.size(); ++k) {
      double weight = 0;
      for (std::size_t other = 0; other < blend.weights.size(); ++other)
        if (row_of(other) == row_of(k)) weight += blend.weights[other] / sum;
      matrix[row_of(k) * columns + column] = static_cast<float>(weight);
    }
  }
  return Tensor::wrap(DType::f32, Shape({axis.before, axis.after}),
                      {matrix, reinterpret_cast<const std::byte*>(matrix.get())});
}

}  // namespace penstock
