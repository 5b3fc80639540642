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

Channels::Channels(const Operand& x)
    : data_(x.f32().data()), samples_(x.shape()[0]), channels_(x.shape()[1]) {
  const std::int64_t runs = samples_ * channels_;
  length_ = runs > 0 ? x.elements() / runs : 0;
}

GradientSums channel_gradient_sums(const Channels& dy, const Channels& x, std::int64_t channel,
                                   const Moments& moments) {
  GradientSums sums;
  x.for_each_run(channel, [&](std::int64_t sample, const float* run) {
    add_to(sums,
           kernel_table().norms.gradient_sums(x.length(), moments, dy.run(sample, channel), run));
  });
  return sums;
}

}  // namespace penstock::graph
