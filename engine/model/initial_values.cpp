#include "engine/model/initial_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "graph/ir/random.hpp"
#include "graph/values/memory.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using Kind = Initializer::Kind;
using Draws = std::array<std::uint32_t, 4>;
using Quad = std::array<float, 4>;

/// Fans are the fan in and the fan out of a weight; see penstock::Fan.
struct Fans {
  double in, out;

  explicit Fans(const Shape& shape) : in(1), out(1) {
    for (const std::int64_t dim : shape.dims().subspan(2)) in *= static_cast<double>(dim);
    out = in * static_cast<double>(shape[0]);
    in *= static_cast<double>(shape[1]);
  }
  double sum() const { return in + out; }
  double of(Fan fan) const { return fan == Fan::in ? in : out; }
};

bool uses_matrix(Kind kind) {
  return kind >= Kind::xavier_uniform;
}

/// Returns the initializer without fans that draws what `initializer` draws for a weight of
/// `shape`.
Initializer without_fans(const Initializer& initializer, const Shape& shape) {
  const double gain = initializer.spread;
  const auto even = [](double bound) { return Initializer::uniform(-bound, bound); };
  switch (initializer.kind) {
    case Kind::xavier_uniform:
      return even(gain * std::sqrt(6 / Fans(shape).sum()));
    case Kind::xavier_normal:
      return Initializer::normal(0, gain * std::sqrt(2 / Fans(shape).sum()));
    case Kind::kaiming_uniform:
      return even(gain * std::sqrt(3 / Fans(shape).of(initializer.fan)));
    case Kind::kaiming_normal:
      return Initializer::normal(0, gain / std::sqrt(Fans(shape).of(initializer.fan)));
    default:
      return initializer;
  }
}

/// Returns the share of a normal distribution that is from `low` to `high`.
double share_between(const Initializer& initializer) {
  const auto below = [&](double x) {
    return std::erfc((initializer.center - x) / (initializer.spread * std::numbers::sqrt2)) / 2;
  };
  return below(initializer.high) - below(initializer.low);
}

Quad uniform(const Draws& draws, double low, double high) {
  const auto middle = static_cast<float>((low + high) / 2);
  const auto half = static_cast<float>((high - low) / 2);
  Quad quad{};
  for (std::size_t i = 0; i < quad.size(); ++i)
    quad[i] = middle + half * (2 * graph::to_unit(draws[i]) - 1);
  return quad;
}

/// Makes four normally distributed numbers of four uniform draws: two of every two, by the method
/// of Box and Muller.
std::array<double, 4> wide_normal(const Draws& draws, double mean, double deviation) {
  std::array<double, 4> quad{};
  for (std::size_t i = 0; i < quad.size(); i += 2) {
    const double above_zero = 1.0 - double{graph::to_unit(draws[i])};
    const double angle = 2 * std::numbers::pi * double{graph::to_unit(draws[i + 1])};
    const double radius = deviation * std::sqrt(-2 * std::log(above_zero));
    quad[i] = mean + radius * std::cos(angle);
    quad[i + 1] = mean + radius * std::sin(angle);
  }
  return quad;
}

Quad normal(const Draws& draws, double mean, double deviation) {
  Quad quad{};
  std::ranges::transform(wide_normal(draws, mean, deviation), quad.begin(),
                         [](double number) { return static_cast<float>(number); });
  return quad;
}

void draw(std::span<float> elements, auto&& four_at) {
  for (std::size_t begin = 0; begin < elements.size(); begin += 4) {
    const Quad quad = four_at(begin / 4);
    std::copy_n(quad.begin(), std::min<std::size_t>(4, elements.size() - begin),
                elements.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

/// Returns four numbers of a truncated normal distribution. A number that is out of bounds is drawn
/// again from the next sequence, which is that of the next `update` of the key.
Quad truncated(const Initializer& initializer, graph::RandomKey key, std::uint64_t index) {
  Quad quad{};
  std::array<bool, 4> found{};
  for (; !std::all_of(found.begin(), found.end(), [](bool is) { return is; }); ++key.update) {
    const auto next =
        wide_normal(graph::philox(key, index), initializer.center, initializer.spread);
    for (std::size_t i = 0; i < quad.size(); ++i) {
      if (found[i]) continue;
      // The bounds are compared with the number before it is rounded: there may be no float between
      // them.
      found[i] = next[i] >= initializer.low && next[i] <= initializer.high;
      quad[i] = static_cast<float>(next[i]);
    }
  }
  return quad;
}

using Vector = std::vector<double>;

/// Returns the sum of the products of the elements. Several sums at a time are faster than one.
double dot(const Vector& a, const Vector& b) {
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= a.size(); i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// Makes the vectors, which are independent of each other, orthogonal and of length 1, by the
/// method of Gram and Schmidt. The second round removes what rounding has left of the first.
void orthonormalize(std::vector<Vector>& vectors) {
  for (int round = 0; round < 2; ++round)
    for (std::size_t k = 0; k < vectors.size(); ++k) {
      Vector& vector = vectors[k];
      for (std::size_t before = 0; before < k; ++before) {
        const double part = dot(vector, vectors[before]);
        for (std::size_t i = 0; i < vector.size(); ++i) vector[i] -= part * vectors[before][i];
      }
      const double length = std::sqrt(dot(vector, vector));
      for (double& element : vector) element /= length;
    }
}

/// Makes `elements`, which are normally distributed and have `rows` rows, a multiple of a matrix
/// with orthonormal rows or columns.
void make_orthogonal(std::span<float> elements, std::size_t rows, double gain) {
  const std::size_t columns = elements.size() / rows, count = std::min(rows, columns);
  const auto element = [&](std::size_t vector, std::size_t i) -> float& {
    return rows <= columns ? elements[vector * columns + i] : elements[i * columns + vector];
  };
  std::vector<Vector> vectors(count, Vector(elements.size() / count));
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < vectors[k].size(); ++i) vectors[k][i] = element(k, i);
  orthonormalize(vectors);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < vectors[k].size(); ++i)
      element(k, i) = static_cast<float>(gain * vectors[k][i]);
}

/// Checks that `low` and `high` are the bounds of a uniform distribution of f32. @throws Error
/// invalid_argument, whose text begins with `subject`.
void check_bounds(const std::string& subject, double low, double high) {
  check_f32(subject + ": low", low, any_number);
  check_f32(subject + ": high", high, any_number);
  if (low > high)
    throw Error(Errc::invalid_argument, subject + ": expected low not to be above high, got low " +
                                            number_text(low) + " and high " + number_text(high));
}

}  // namespace

void check_initializer(const Initializer& initializer, const Shape& shape, std::string_view name) {
  const std::string subject =
      "parameter " + quoted_text(name) + ": " + std::string(to_string(initializer.kind));
  const auto refuse = [&](const std::string& text) {
    throw Error(Errc::invalid_argument, subject + ": " + text);
  };
  if (initializer.kind == Kind::uniform) check_bounds(subject, initializer.low, initializer.high);
  check_f32(subject, initializer.center, any_number);
  check_f32(subject, initializer.spread, {});
  if (uses_matrix(initializer.kind) && shape.rank() < 2)
    refuse("expected a parameter of rank 2 or more, got " + to_string(shape));
  const std::int64_t rows = shape.rank() > 0 ? shape[0] : 0;
  if (initializer.zero_row < -1 || initializer.zero_row >= rows)
    refuse("expected a zero_row from 0 to " + std::to_string(rows - 1) + ", or -1 for none, got " +
           std::to_string(initializer.zero_row));
  if (initializer.kind != Kind::truncated_normal) return;
  check_number(subject + ": low", initializer.low, any_number);
  check_number(subject + ": high", initializer.high, any_number);
  constexpr double smallest_share = 1e-3;
  if (!(initializer.spread > 0) || !(share_between(initializer) >= smallest_share))
    refuse("expected a thousandth of the distribution, or more, to be from " +
           number_text(initializer.low) + " to " + number_text(initializer.high));
}

Tensor initial_values(const Initializer& initializer, const Shape& shape, std::uint64_t seed,
                      std::string_view name) {
  const auto count = static_cast<std::size_t>(shape.elements());
  const auto memory = allocate_block(count * sizeof(float));
  const std::span elements(reinterpret_cast<float*>(memory.get()), count);
  const graph::RandomKey key{.seed = seed, .name = graph::hash_name(name)};
  const Initializer drawn = without_fans(initializer, shape);
  const auto draws = [&](std::uint64_t index) { return graph::philox(key, index); };
  switch (drawn.kind) {
    case Kind::constant:
      std::ranges::fill(elements, static_cast<float>(drawn.center));
      break;
    case Kind::uniform:
      draw(elements, [&](std::uint64_t i) { return uniform(draws(i), drawn.low, drawn.high); });
      break;
    case Kind::truncated_normal:
      draw(elements, [&](std::uint64_t i) { return truncated(drawn, key, i); });
      break;
    case Kind::orthogonal:
      draw(elements, [&](std::uint64_t i) { return normal(draws(i), 0, 1); });
      if (count > 0) make_orthogonal(elements, static_cast<std::size_t>(shape[0]), drawn.spread);
      break;
    default:
      draw(elements, [&](std::uint64_t i) { return normal(draws(i), drawn.center, drawn.spread); });
  }
  if (initializer.zero_row >= 0) {
    const std::size_t row = count / static_cast<std::size_t>(shape[0]);
    std::ranges::fill(elements.subspan(static_cast<std::size_t>(initializer.zero_row) * row, row),
                      0.0f);
  }
  return Tensor::wrap(DType::f32, shape, memory);
}

}  // namespace penstock
