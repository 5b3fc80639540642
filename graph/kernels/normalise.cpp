#include "graph/kernels/normalise.hpp"

#include <cmath>

#include "graph/kernels/sums.hpp"

namespace penstock::graph::kernels {

Run run(const Operand& operand, std::int64_t offset, std::int64_t length) {
  return {operand.f32().data() + offset, length};
}

Moments stored_moments(const Operand& mean, const Operand& inverse_std, std::int64_t i) {
  return {mean.f32()[static_cast<std::size_t>(i)], inverse_std.f32()[static_cast<std::size_t>(i)]};
}

Moments moments(const Run& x, double eps) {
  const auto count = static_cast<double>(x.size());
  const auto mean = static_cast<float>(long_sum(x) / count);
  const double variance = long_sum((x - mean).square()) / count;
  return {mean, static_cast<float>(1 / std::sqrt(variance + eps))};
}

void normalise(const Run& x, Run y, const Moments& moments, float scale, float shift) {
  y = (x - moments.mean) * (moments.inverse_std * scale) + shift;
}

GradientSums& GradientSums::operator+=(const GradientSums& other) {
  dy += other.dy;
  dy_x += other.dy_x;
  return *this;
}

GradientSums gradient_sums(const Run& dy, const Run& x, const Moments& moments) {
  return {long_sum(dy), long_sum(dy * (x - moments.mean)) * moments.inverse_std};
}

void input_gradient(const Run& dy, const Run& x, Run dx, const Moments& moments, float scale,
                    const GradientSums& means) {
  const float inverse_std = moments.inverse_std;
  const auto slope = static_cast<float>(means.dy_x * inverse_std * inverse_std);
  const auto offset = static_cast<float>(means.dy * inverse_std);
  dx = dy * (scale * inverse_std) - (x - moments.mean) * slope - offset;
}

}  // namespace penstock::graph::kernels
