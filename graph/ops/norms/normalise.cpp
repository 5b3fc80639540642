#include "graph/ops/norms/normalise.hpp"

#include <algorithm>
#include <cmath>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

Shape expect_last_axes(const TensorType& x, const TensorType& weight) {
  expect_dtype(weight, DType::f32, "weight");
  const auto all = x.shape.dims(), last = weight.shape.dims();
  expect(!last.empty() && last.size() <= all.size() &&
             std::equal(last.rbegin(), last.rend(), all.rbegin()),
         "expected weight of the shape of x's last axes, got " + to_string(weight.shape) +
             " for x " + to_string(x.shape));
  return Shape(all.first(all.size() - last.size()));
}

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
