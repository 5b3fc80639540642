#include "engine/images/resample.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace penstock {
namespace {

// The weights of bytes are multiples of 2^-22, as in Pillow: 32 bits hold a sum of such weights,
// times 255, with two bits to spare.
constexpr int weight_bits = 32 - 8 - 2;

/// A Weight is what pixels of type T are multiplied by.
template <class T>
using Weight = std::conditional_t<std::is_same_v<T, float>, double, std::int32_t>;

/// An OutputWeights says of which pixels of a line a pixel of the result is the weighted sum.
struct OutputWeights {
  std::int64_t first = 0;  ///< `first` is the number of the first pixel.
  std::int64_t count = 0;
  std::size_t weights = 0;  ///< `weights` is the place of the first weight.
};

template <class T>
struct LineWeights {
  std::vector<OutputWeights> outputs;
  std::vector<Weight<T>> weights;
};

/// Returns the weight of a pixel at the distance `x`, counted in pixels of the result.
double bilinear(double x) {
  return std::max(0.0, 1 - std::abs(x));
}

template <class T>
Weight<T> stored_weight(double weight) {
  if constexpr (std::is_same_v<T, float>) return weight;
  return static_cast<Weight<T>>(0.5 + weight * (1 << weight_bits));
}

/// Returns the weights by which a line of `length` pixels becomes one of `wanted` pixels, of which
/// `count` pixels from number `begin` on are computed. This is precompute_coeffs() of Pillow.
template <class T>
LineWeights<T> line_weights(std::int64_t length, std::int64_t wanted, std::int64_t begin,
                            std::int64_t count) {
  const double scale = static_cast<double>(length) / static_cast<double>(wanted);
  const double support = std::max(scale, 1.0);
  LineWeights<T> result;
  std::vector<double> line;
  for (std::int64_t i = begin; i < begin + count; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(center - support + 0.5));
    const auto end = std::min(length, static_cast<std::int64_t>(center + support + 0.5));
    line.clear();
    double sum = 0;
    for (std::int64_t x = first; x < end; ++x) {
      line.push_back(bilinear((static_cast<double>(x) - center + 0.5) * (1 / support)));
      sum += line.back();
    }
    result.outputs.push_back({first, end - first, result.weights.size()});
    for (const double weight : line) result.weights.push_back(stored_weight<T>(weight / sum));
  }
  return result;
}

template <class T>
T rounded(Weight<T> sum) {
  if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(sum);
  else
    return static_cast<T>(std::clamp(sum >> weight_bits, 0, 255));
}

/// Half of the smallest step of the result is added to a sum, so that the sum is rounded to nearest
/// when it is cut off.
template <class T>
constexpr Weight<T> start_of_sum = std::is_same_v<T, float> ? 0 : 1 << (weight_bits - 1);

/// Writes the pixels that the line `from` becomes to `to`.
template <class T>
void resize_line(const T* from, const LineWeights<T>& line, T* to) {
  for (const OutputWeights& output : line.outputs) {
    Weight<T> sum = start_of_sum<T>;
    const T* const pixels = from + output.first;
    const Weight<T>* const weights = line.weights.data() + output.weights;
    for (std::int64_t i = 0; i < output.count; ++i) sum += pixels[i] * weights[i];
    *to++ = rounded<T>(sum);
  }
}

/// Resizes one channel, whose rows have `row_pixels` pixels and of which `from` is the first pixel
/// that is resized. Each row is resized once, and added to all rows of the result that it is in.
template <class T>
void resize_plane(const T* from, std::int64_t row_pixels, const LineWeights<T>& across,
                  const LineWeights<T>& down, T* to) {
  const std::size_t columns = across.outputs.size();
  std::vector<Weight<T>> sums(down.outputs.size() * columns, start_of_sum<T>);
  std::vector<T> line(columns);
  const OutputWeights& last = down.outputs.back();
  std::size_t open = 0;  // The rows of the result before this one are complete.
  for (std::int64_t row = down.outputs.front().first; row < last.first + last.count; ++row) {
    resize_line(from + row * row_pixels, across, line.data());
    while (down.outputs[open].first + down.outputs[open].count <= row) ++open;
    for (std::size_t i = open; i < down.outputs.size() && down.outputs[i].first <= row; ++i) {
      const auto number = static_cast<std::size_t>(row - down.outputs[i].first);
      const Weight<T> weight = down.weights[down.outputs[i].weights + number];
      Weight<T>* const sum = sums.data() + i * columns;
      for (std::size_t column = 0; column < columns; ++column) sum[column] += line[column] * weight;
    }
  }
  std::ranges::transform(sums, to, rounded<T>);
}

template <class T>
void resize_planes(std::span<const T> from, const PlaneSize& size, const Resizing& resizing,
                   T* to) {
  const auto& [window, rows, columns, part] = resizing;
  const auto across = line_weights<T>(window.columns, columns, part.left, part.columns);
  const auto down = line_weights<T>(window.rows, rows, part.top, part.rows);
  for (std::int64_t channel = 0; channel < size.channels; ++channel) {
    const std::int64_t first = (channel * size.rows + window.top) * size.columns + window.left;
    resize_plane(from.data() + first, size.columns, across, down,
                 to + channel * part.rows * part.columns);
  }
}

}  // namespace

void resize_image(std::span<const std::uint8_t> from, const PlaneSize& size,
                  const Resizing& resizing, std::uint8_t* to) {
  resize_planes(from, size, resizing, to);
}

void resize_image(std::span<const float> from, const PlaneSize& size, const Resizing& resizing,
                  float* to) {
  resize_planes(from, size, resizing, to);
}

}  // namespace penstock
