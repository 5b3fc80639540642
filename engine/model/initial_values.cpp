#include "engine/model/initial_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "graph/ir/random.hpp"
#include "graph/values/memory.hpp"

namespace penstock {
namespace {

using Draws = std::array<std::uint32_t, 4>;
using Quad = std::array<float, 4>;

Quad uniform(const Draws& draws, float bound) {
  Quad quad{};
  for (std::size_t i = 0; i < quad.size(); ++i)
    quad[i] = bound * (2 * graph::to_unit(draws[i]) - 1);
  return quad;
}

/// Makes four normally distributed numbers of four uniform draws: two of every two, by the method
/// of Box and Muller.
Quad normal(const Draws& draws, double deviation) {
  Quad quad{};
  for (std::size_t i = 0; i < quad.size(); i += 2) {
    const double above_zero = 1.0 - double{graph::to_unit(draws[i])};
    const double angle = 2 * std::numbers::pi * double{graph::to_unit(draws[i + 1])};
    const double radius = deviation * std::sqrt(-2 * std::log(above_zero));
    quad[i] = static_cast<float>(radius * std::cos(angle));
    quad[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
  return quad;
}

void draw(std::span<float> elements, const graph::RandomKey& key, auto&& four_from) {
  for (std::size_t begin = 0; begin < elements.size(); begin += 4) {
    const Quad quad = four_from(graph::philox(key, begin / 4));
    std::copy_n(quad.begin(), std::min<std::size_t>(4, elements.size() - begin),
                elements.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

}  // namespace

Tensor initial_values(const graph::Initializer& initializer, const Shape& shape, std::uint64_t seed,
                      std::string_view name) {
  using Kind = graph::Initializer::Kind;
  const auto count = static_cast<std::size_t>(shape.elements());
  const auto memory = allocate_block(count * sizeof(float));
  const std::span elements(reinterpret_cast<float*>(memory.get()), count);
  const graph::RandomKey key{.seed = seed, .name = graph::hash_name(name)};
  const double value = initializer.value;
  if (initializer.kind == Kind::constant)
    std::fill(elements.begin(), elements.end(), static_cast<float>(value));
  else if (initializer.kind == Kind::uniform)
    draw(elements, key, [&](const Draws& d) { return uniform(d, static_cast<float>(value)); });
  else
    draw(elements, key, [&](const Draws& d) { return normal(d, value); });
  return Tensor::wrap(DType::f32, shape, memory);
}

}  // namespace penstock
