// This header has the formulas of losses over pairs (x, target). Each formula is a type that is
// made from LossConstants. It has `term`, the loss of a pair, and `slope`, the derivative of the
// term in x. If the target may have a gradient, and this is not just the negative of the gradient
// of x, it also has `target_slope`, the derivative in the target. The header is for kernels that
// the build compiles once per instruction set.
#pragma once

#include "graph/kernels/losses/losses.hpp"
#include "graph/kernels/vectors/logarithm.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// OfDifference makes a formula of a function of d = x - target.
template <class Difference>
struct OfDifference : Difference {
  explicit OfDifference(const LossConstants& constants) : Difference{constants} {}
  [[gnu::always_inline]] float term(float x, float target) const { return this->at(x - target); }
  [[gnu::always_inline]] float slope(float x, float target) const {
    return this->slope_at(x - target);
  }
};

/// The function is d².
struct Squared {
  explicit Squared(const LossConstants&) {}
  [[gnu::always_inline]] float at(float d) const { return d * d; }
  [[gnu::always_inline]] float slope_at(float d) const { return 2.0f * d; }
};

/// The function is |d|, whose slope counts as 0 at d = 0.
struct Absolute {
  explicit Absolute(const LossConstants&) {}
  [[gnu::always_inline]] float at(float d) const { return d > 0.0f ? d : 0.0f - d; }
  [[gnu::always_inline]] float slope_at(float d) const {
    return d > 0.0f ? 1.0f : d < 0.0f ? -1.0f : 0.0f;
  }
};

/// The function is d²/2β where |d| < β, and |d| - β/2 elsewhere.
struct Smooth {
  explicit Smooth(const LossConstants& constants) : beta(constants.beta) {}
  [[gnu::always_inline]] float at(float d) const {
    const float size = d > 0.0f ? d : 0.0f - d;
    return size < beta ? 0.5f * d * d / beta : size - 0.5f * beta;
  }
  [[gnu::always_inline]] float slope_at(float d) const {
    const float size = d > 0.0f ? d : 0.0f - d, sign = d > 0.0f ? 1.0f : d < 0.0f ? -1.0f : 0.0f;
    return size >= beta ? sign : d / beta;  // If d is NaN, the slope is NaN.
  }
  float beta;
};

/// The function is d²/2 where |d| <= δ, and δ·(|d| - δ/2) elsewhere.
struct Huber {
  explicit Huber(const LossConstants& constants) : delta(constants.delta) {}
  [[gnu::always_inline]] float at(float d) const {
    const float size = d > 0.0f ? d : 0.0f - d;
    return size <= delta ? 0.5f * d * d : delta * (size - 0.5f * delta);
  }
  [[gnu::always_inline]] float slope_at(float d) const {
    return d > delta ? delta : d < -delta ? -delta : d;
  }
  float delta;
};

/// The term is -t·log(x) - (1 - t)·log(1 - x), where t is the target. Logarithms below -100 count
/// as -100, as in PyTorch.
struct Binary {
  explicit Binary(const LossConstants&) {}
  [[gnu::always_inline]] static float clamped(float y) { return y < -100.0f ? -100.0f : y; }
  [[gnu::always_inline]] static float log_of(float x) { return clamped(logarithm(x)); }
  /// Returns log(1 - x). The error that rounding makes in 1 - x is added to the logarithm: this
  /// error matters only near x = 0, where the logarithm of 1 - x has a slope of about 1.
  [[gnu::always_inline]] static float log_of_rest(float x) {
    const float complement = 1.0f - x, lost = (1.0f - complement) - x;
    return clamped(logarithm(complement) + lost);
  }
  [[gnu::always_inline]] float term(float x, float t) const {
    return (t - 1.0f) * log_of_rest(x) - t * log_of(x);
  }
  [[gnu::always_inline]] float slope(float x, float t) const {
    const float variance = (1.0f - x) * x;
    return (x - t) / (variance < 1e-12f ? 1e-12f : variance);
  }
  [[gnu::always_inline]] float target_slope(float x, float) const {
    return log_of_rest(x) - log_of(x);
  }
};

/// Here x is the logit of the probability 1/(1 + exp(-x)), and t is the target. The term log(1 +
/// exp(x)) - t·x is computed as the sum of log(1 + exp(-|x|)) and max(x, 0) - t·x. These two do not
/// cancel each other, however large |x| is.
struct BinaryLogits {
  explicit BinaryLogits(const LossConstants&) {}
  [[gnu::always_inline]] float term(float x, float t) const {
    const float size = x < 0.0f ? -x : x;
    return x * ((x > 0.0f ? 1.0f : 0.0f) - t) +
           logarithm_of_one_and(exponential_of_negative(-size));
  }
  [[gnu::always_inline]] float slope(float x, float t) const {
    const float size = x < 0.0f ? -x : x, e = exponential_of_negative(-size);
    const float less_likely = e / (1.0f + e);
    return x > 0.0f ? (1.0f - t) - less_likely : less_likely - t;
  }
  [[gnu::always_inline]] float target_slope(float x, float) const { return -x; }
};

/// The term is t·(log(t) - x), where t is the target; it is 0 for t = 0.
struct Divergence {
  explicit Divergence(const LossConstants&) {}
  [[gnu::always_inline]] float term(float x, float t) const {
    return (t == 0.0f ? 0.0f : t * logarithm(t)) - t * x;
  }
  [[gnu::always_inline]] float slope(float, float t) const { return -t; }
  [[gnu::always_inline]] float target_slope(float x, float t) const {
    return t == 0.0f ? 0.0f : logarithm(t) + 1.0f - x;
  }
};

/// The term is exp(t)·(t - x), where t is the target.
struct DivergenceFromLogarithm {
  explicit DivergenceFromLogarithm(const LossConstants&) {}
  [[gnu::always_inline]] float term(float x, float t) const { return exponential(t) * (t - x); }
  [[gnu::always_inline]] float slope(float, float t) const { return -exponential(t); }
  [[gnu::always_inline]] float target_slope(float x, float t) const {
    return exponential(t) * (t - x + 1.0f);
  }
};

/// The term is rate - t·log(rate), where t is the target. If `log_rate` is true, x is the logarithm
/// of the rate; otherwise x is the rate, to which `eps` is added before the logarithm is taken. If
/// `stirling` is true, Stirling's approximation of log(t!) is added for t > 1: t·log(t) - t +
/// log(2πt)/2.
template <bool log_rate, bool stirling>
struct Poisson {
  explicit Poisson(const LossConstants& constants) : eps(constants.eps) {}
  [[gnu::always_inline]] float term(float x, float t) const {
    const float deviation = log_rate ? exponential(x) - t * x : x - t * logarithm(x + eps);
    if constexpr (!stirling) return deviation;
    const float log_factorial = t * logarithm(t) - t + 0.5f * logarithm(6.28318531f * t);
    return deviation + (t <= 1.0f ? 0.0f : log_factorial);
  }
  [[gnu::always_inline]] float slope(float x, float t) const {
    return log_rate ? exponential(x) - t : 1.0f - t / (x + eps);
  }
  [[gnu::always_inline]] float target_slope(float x, float t) const {
    const float deviation = log_rate ? -x : -logarithm(x + eps);
    if constexpr (!stirling) return deviation;
    return deviation + (t <= 1.0f ? 0.0f : logarithm(t) + 0.5f / t);
  }
  float eps;
};

/// Returns `lack` if it is above 0 or NaN, and otherwise 0.
[[gnu::always_inline]] inline float above_zero(float lack) {
  return lack <= 0.0f ? 0.0f : lack;
}

/// The term is x where the target t is 1, max(0, margin - x) where t is -1, and the sum of both for
/// any other t, as in PyTorch.
struct Hinge {
  explicit Hinge(const LossConstants& constants) : margin(constants.margin) {}
  [[gnu::always_inline]] float term(float x, float t) const {
    return (t == -1.0f ? 0.0f : x) + (t == 1.0f ? 0.0f : above_zero(margin - x));
  }
  [[gnu::always_inline]] float slope(float x, float t) const {
    return (t == -1.0f ? 0.0f : 1.0f) - (t == 1.0f || !(margin - x >= 0.0f) ? 0.0f : 1.0f);
  }
  float margin;
};

/// The term is log(1 + exp(-t·x)), where t is the target.
struct SoftMargin {
  explicit SoftMargin(const LossConstants&) {}
  [[gnu::always_inline]] float term(float x, float t) const { return softplus(-t * x); }
  [[gnu::always_inline]] float slope(float x, float t) const { return -t * logistic(-t * x); }
  [[gnu::always_inline]] float target_slope(float x, float t) const {
    return -x * logistic(-t * x);
  }
};

}  // namespace penstock::graph::PENSTOCK_ISA
