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

/// Computes to[i] = slope(x[i], target[i])·dloss[i].
template <class Slope>
[[gnu::always_inline]] inline void times_slopes(std::int64_t count, Slope slope, const float* x,
                                                const float* target, RowOperand dloss, float* to) {
  const float* each = dloss.data;
  if (dloss.repeats)
    for_each_element(count,
                     [=, one = *each](std::int64_t i) { to[i] = slope(x[i], target[i]) * one; });
  else
    for_each_element(count, [=](std::int64_t i) { to[i] = slope(x[i], target[i]) * each[i]; });
}

template <class Loss>
void gradient(std::int64_t count, const LossConstants& constants, const float* x,
              const float* target, RowOperand dloss, float* dx) {
  const auto slope = [loss = Loss(constants)](float a, float b) { return loss.slope(a, b); };
  times_slopes(count, slope, x, target, dloss, dx);
}

template <class Loss>
void target_gradient(std::int64_t count, const LossConstants& constants, const float* x,
                     const float* target, RowOperand dloss, float* dtarget) {
  const auto slope = [loss = Loss(constants)](float a, float b) { return loss.target_slope(a, b); };
  times_slopes(count, slope, x, target, dloss, dtarget);
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
  const float* each = dloss.data;
  if (dloss.repeats)
    for_each_element(count, [=, one = *each](std::int64_t i) { da[i] = slope(i) * one; });
  else
    for_each_element(count, [=](std::int64_t i) { da[i] = slope(i) * each[i]; });
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
    .binary = kernels<Binary>,
    .binary_logits = kernels<BinaryLogits>,
    .divergence = kernels<Divergence>,
    .divergence_from_logarithm = kernels<DivergenceFromLogarithm>,
    .poisson = {{kernels<Poisson<false, false>>, kernels<Poisson<false, true>>},
                {kernels<Poisson<true, false>>, kernels<Poisson<true, true>>}},
    .hinge = kernels<Hinge>,
    .soft_margin = kernels<SoftMargin>,
    .ranking = {.terms = ranking_terms, .sum = ranking_sum, .gradient = ranking_gradient},
    .clipped_logarithm = clipped_logarithm,
    .clipped_logarithm_gradient = clipped_logarithm_gradient};

}  // namespace penstock::graph::PENSTOCK_ISA
