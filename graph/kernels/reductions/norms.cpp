#include "graph/kernels/reductions/norms.hpp"

#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

double squared_deviations(std::int64_t count, float mean, const float* x) {
  return long_sum_of(
      count, [=](auto element) { return (element - mean) * (element - mean); }, x);
}

void normalise(std::int64_t count, const Moments& moments, float scale, float shift, const float* x,
               float* y) {
  const float factor = moments.inverse_std * scale;
  for_each_element(count, [=, mean = moments.mean](std::int64_t i) {
    y[i] = multiply_add(x[i] - mean, factor, shift);
  });
}

void normalise_each(std::int64_t count, const Moments& moments, const float* weight,
                    const float* bias, const float* x, float* y) {
  const auto [mean, inverse_std] = moments;
  if (bias)
    for_each_element(count, [=, m = mean, s = inverse_std](std::int64_t i) {
      y[i] = multiply_add((x[i] - m) * s, weight[i], bias[i]);
    });
  else
    for_each_element(count, [=, m = mean, s = inverse_std](std::int64_t i) {
      y[i] = (x[i] - m) * s * weight[i];
    });
}

GradientSums gradient_sums(std::int64_t count, const Moments& moments, const float* dy,
                           const float* x) {
  const auto product = [mean = moments.mean](auto d, auto element) { return d * (element - mean); };
  return {long_sum(count, dy),
          long_sum_of(count, product, dy, x) * static_cast<double>(moments.inverse_std)};
}

GradientSums gradient_sums_each(std::int64_t count, const Moments& moments, const float* weight,
                                const float* dy, const float* x) {
  const auto weighted = [](auto d, auto w) { return d * w; };
  const auto product = [mean = moments.mean](auto d, auto w, auto element) {
    return d * w * (element - mean);
  };
  return {long_sum_of(count, weighted, dy, weight),
          long_sum_of(count, product, dy, weight, x) * static_cast<double>(moments.inverse_std)};
}

/// A Correction gives what is subtracted from dy·scale·inverse_std to make the gradient of the
/// input: (x - mean)·slope + offset.
struct Correction {
  float slope, offset;

  Correction(const Moments& moments, const GradientSums& means) {
    const auto inverse_std = static_cast<double>(moments.inverse_std);
    slope = static_cast<float>(means.dy_x * inverse_std * inverse_std);
    offset = static_cast<float>(means.dy * inverse_std);
  }
};

void input_gradient(std::int64_t count, const Moments& moments, float scale,
                    const GradientSums& means, const float* dy, const float* x, float* dx) {
  const Correction correction(moments, means);
  const float mean = moments.mean, factor = scale * moments.inverse_std;
  for_each_element(count, [=](std::int64_t i) {
    dx[i] = dy[i] * factor - multiply_add(x[i] - mean, correction.slope, correction.offset);
  });
}

void input_gradient_each(std::int64_t count, const Moments& moments, const float* weight,
                         const GradientSums& means, const float* dy, const float* x, float* dx) {
  const Correction correction(moments, means);
  const float mean = moments.mean, inverse_std = moments.inverse_std;
  for_each_element(count, [=](std::int64_t i) {
    dx[i] = dy[i] * weight[i] * inverse_std -
            multiply_add(x[i] - mean, correction.slope, correction.offset);
  });
}

void add_weight_gradient(std::int64_t count, const Moments& moments, const float* dy,
                         const float* x, double* dweight, double* dbias) {
  const float mean = moments.mean, inverse_std = moments.inverse_std;
  for_each_element(count, [=](std::int64_t i) {
    dweight[i] += static_cast<double>(dy[i] * ((x[i] - mean) * inverse_std));
    dbias[i] += static_cast<double>(dy[i]);
  });
}

}  // namespace

extern const NormKernels norm_kernels;
const NormKernels norm_kernels{.squared_deviations = squared_deviations,
                               .normalise = normalise,
                               .normalise_each = normalise_each,
                               .gradient_sums = gradient_sums,
                               .gradient_sums_each = gradient_sums_each,
                               .input_gradient = input_gradient,
                               .input_gradient_each = input_gradient_each,
                               .add_weight_gradient = add_weight_gradient};

}  // namespace penstock::graph::PENSTOCK_ISA
