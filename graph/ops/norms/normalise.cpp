#include "graph/ops/norms/normalise.hpp"

#include <cmath>

#include "graph/kernels/kernel_table.hpp"

namespace penstock::graph {

Moments stored_moments(const Operand& mean, const Operand& inverse_std, std::int64_t i) {
  return {mean.f32()[static_cast<std::size_t>(i)], inverse_std.f32()[static_cast<std::size_t>(i)]};
}

Moments moments_of(std::int64_t count, const float* x, double eps) {
  const auto elements = static_cast<double>(count);
  const auto mean = static_cast<float>(kernel_table().reductions.sum(count, x) / elements);
  const double variance = kernel_table().norms.squared_deviations(count, mean, x) / elements;
  return {mean, static_cast<float>(1 / std::sqrt(variance + eps))};
}

}  // namespace penstock::graph
