#include "graph/kernels/losses/losses.hpp"

#include "graph/kernels/losses/loss_formulas.hpp"
#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

template <class Loss>
void terms(std::int64_t count, const LossConstants& constants, const float* x, const float* target,
           float* y) {
  for_each_element(
      count, [=, loss = Loss(constants)](std::int64_t i) { y[i] = loss.term(x[i], target[i]); });
}

/// Returns the sum of `count` terms. `write(i, size, y)` writes the `size` terms from term i on to
/// `y`.
template <class Write>
[[gnu::always_inline]] inline double sum_of_blocks(std::int64_t count, Write write) {
  constexpr std::int64_t most = 1024;  // This is a multiple of the 32 partial sums in long_sum().
  float block[most];
  double total = 0;
  for (std::int64_t i = 0; i < count; i += most) {
    const std::int64_t size = count - i < most ? count - i : most;
    write(i, size, &block[0]);
    total += long_sum(size, block);
  }
  return total;
}

template <class Loss>
double sum(std::int64_t count, const LossConstants& constants, const float* x,
           const float* target) {
  return sum_of_blocks(count, [&](std::int64_t i, std::int64_t size, float* y) {
    terms<Loss>(size, constants, x + i, target + i, y);
  });
}

/// Computes to[i] = slope(i)·dloss[i].
template <class Slope>
[[gnu::always_inline]] inline void times_loss_gradient(std::int64_t count, Slope slope,
                                                       RowOperand dloss, float* to) {
  const float* each = dloss.data;
  if (dloss.repeats)
    for_each_element(count, [=, one = *each](std::int64_t i) { to[i] = slope(i) * one; });
  else
    for_each_element(count, [=](std::int64_t i) { to[i] = slope(i) * each[i]; });
}

template <class Loss>
void gradient(std::int64_t count, const LossConstants& constants, const float* x,
              const float* target, RowOperand dloss, float* dx) {
  const auto slope = [=, loss = Loss(constants)](std::int64_t i) {
    return loss.slope(x[i], target[i]);
  };
  times_loss_gradient(count, slope, dloss, dx);
}

template <class Loss>
void target_gradient(std::int64_t count, const LossConstants& constants, const float* x,
                     const float* target, RowOperand dloss, float* dtarget) {
  const auto slope = [=, loss = Loss(constants)](std::int64_t i) {
    return loss.target_slope(x[i], target[i]);
  };
  times_loss_gradient(count, slope, dloss, dtarget);
}

void ranking_terms(std::int64_t count, float margin, const float* a, const float* b,
                   const float* target, float* y) {
  for_each_element(count,
                   [=](std::int64_t i) { y[i] = above_zero(margin - target[i] * (a[i] - b[i])); });
}

double ranking_sum(std::int64_t count, float margin, const float* a, const float* b,
                   const float* target) {
  return sum_of_blocks(count, [&](std::int64_t i, std::int64_t size, float* y) {
    ranking_terms(size, margin, a + i, b + i, target + i, y);
  });
}

void ranking_gradient(std::int64_t count, float margin, const float* a, const float* b,
                      const float* target, RowOperand dloss, float* da) {
  const auto slope = [=](std::int64_t i) {
    const float t = target[i];
    return margin - t * (a[i] - b[i]) >= 0.0f || t != t ? -t : 0.0f;
  };
  times_loss_gradient(count, slope, dloss, da);
}

void gaussian_terms(std::int64_t count, float eps, float constant, const float* x,
                    const float* target, const float* variance, float* y) {
  for_each_element(count, [=](std::int64_t i) {
    const float v = variance[i] < eps ? eps : variance[i], d = x[i] - target[i];
    y[i] = 0.5f * (logarithm(v) + d * d / v) + constant;
  });
}

double gaussian_sum(std::int64_t count, float eps, float constant, const float* x,
                    const float* target, const float* variance) {
  return sum_of_blocks(count, [&](std::int64_t i, std::int64_t size, float* y) {
    gaussian_terms(size, eps, constant, x + i, target + i, variance + i, y);
  });
}

void gaussian_gradient(std::int64_t count, float eps, const float* x, const float* target,
                       const float* variance, RowOperand dloss, float* dx) {
  const auto slope = [=](std::int64_t i) {
    return (x[i] - target[i]) / (variance[i] < eps ? eps : variance[i]);
  };
  times_loss_gradient(count, slope, dloss, dx);
}

void gaussian_variance_gradient(std::int64_t count, float eps, const float* x, const float* target,
                                const float* variance, RowOperand dloss, float* dvariance) {
  const auto slope = [=](std::int64_t i) {
    const float v = variance[i] < eps ? eps : variance[i], d = x[i] - target[i];
    return 0.5f * (1.0f - d * d / v) / v;
  };
  times_loss_gradient(count, slope, dloss, dvariance);
}

void clipped_logarithm(std::int64_t count, float low, float high, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) {
    const float above = x[i] < low ? low : x[i];
    y[i] = logarithm(above > high ? high : above);
  });
}

void clipped_logarithm_gradient(std::int64_t count, float low, float high, const float* x,
                                const float* dy, float* dx) {
  for_each_element(count, [=](std::int64_t i) {
    const float slope = dy[i] / x[i];
    dx[i] = x[i] < low || x[i] > high ? 0.0f : slope;
  });
}

template <class Loss>
constexpr PairLossKernels kernels = [] {
  PairLossKernels result{.terms = terms<Loss>,
                         .sum = sum<Loss>,
                         .gradient = gradient<Loss>,
                         .target_gradient = nullptr};
  if constexpr (requires(const Loss& loss) { loss.target_slope(0.0f, 0.0f); })
    result.target_gradient = target_gradient<Loss>;
  return result;
}();

}  // namespace

extern const LossKernels loss_kernels;
const LossKernels loss_kernels{
    .squared = kernels<OfDifference<Squared>>,
    .absolute = kernels<OfDifference<Absolute>>,
    .smooth = kernels<OfDifference<Smooth>>,
    .huber = kernels<OfDifference<Huber>>,
    .binary = kernels<Binary>,
    .binary_logits = kernels<BinaryLogits>,
    .divergence = kernels<Divergence>,
    .divergence_from_logarithm = kernels<DivergenceFromLogarithm>,
    .poisson = {{kernels<Poisson<false, false>>, kernels<Poisson<false, true>>},
                {kernels<Poisson<true, false>>, kernels<Poisson<true, true>>}},
    .hinge = kernels<Hinge>,
    .soft_margin = kernels<SoftMargin>,
    .ranking = {.terms = ranking_terms, .sum = ranking_sum, .gradient = ranking_gradient},
    .gaussian = {.terms = gaussian_terms,
                 .sum = gaussian_sum,
                 .gradient = gaussian_gradient,
                 .variance_gradient = gaussian_variance_gradient},
    .clipped_logarithm = clipped_logarithm,
    .clipped_logarithm_gradient = clipped_logarithm_gradient};

}  // namespace penstock::graph::PENSTOCK_ISA
