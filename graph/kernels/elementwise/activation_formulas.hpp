// This header has the formulas of activations. Each formula is a type that is made from
// ActivationConstants. It has `value`, the function of x, and `gradient`, the gradient of x for the
// gradient `dy` of the value. At kinks, infinities and NaN, both are those of PyTorch. The header
// is for kernels that the build compiles once per instruction set.
#pragma once

#include "graph/kernels/elementwise/activations.hpp"
#include "graph/kernels/vectors/logarithm.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// The function is scale·x above 0, and scale·alpha·(exp(input_scale·x) - 1) elsewhere.
struct Elu {
  explicit Elu(const ActivationConstants& constants)
      : above(constants.scale),
        below(constants.scale * constants.alpha),
        steepness(constants.input_scale) {}
  [[gnu::always_inline]] float value(float x) const {
    const float negative = below * exponential_of_negative_minus_one(x * steepness);
    return x > 0.0f ? above * x : negative;
  }
  [[gnu::always_inline]] float gradient(float x, float dy) const {
    const float negative = dy * (below * steepness * exponential_of_negative(x * steepness));
    return x > 0.0f ? above * dy : negative;
  }
  float above, below, steepness;
};

/// The function is log(1 + exp(beta·x))/beta, and x where beta·x is above the threshold.
struct Softplus {
  explicit Softplus(const ActivationConstants& constants)
      : beta(constants.beta), threshold(constants.threshold) {}
  [[gnu::always_inline]] float value(float x) const {
    const float z = beta * x, bent = softplus(z) / beta;
    return z > threshold ? x : bent;
  }
  [[gnu::always_inline]] float gradient(float x, float dy) const {
    const float z = beta * x, bent = dy * logistic(z);
    return z > threshold ? dy : bent;
  }
  float beta, threshold;
};

/// The function is log(1/(1 + exp(-x))).
struct Logsigmoid {
  explicit Logsigmoid(const ActivationConstants&) {}
  [[gnu::always_inline]] float value(float x) const { return -softplus(-x); }
  [[gnu::always_inline]] float gradient(float x, float dy) const { return dy * logistic(-x); }
};

/// The function is x/(1 + |x|). Its gradient is NaN if x is infinite.
struct Softsign {
  explicit Softsign(const ActivationConstants&) {}
  [[gnu::always_inline]] float value(float x) const { return x / (1.0f + __builtin_fabsf(x)); }
  [[gnu::always_inline]] float gradient(float x, float dy) const {
    const float divisor = 1.0f + __builtin_fabsf(x);
    return dy / divisor / divisor + (x - x);
  }
};

/// The function is x·tanh(log(1 + exp(x))). With e = exp(-|x|), the hyperbolic tangent is a
/// quotient of polynomials of e that no digit is lost in: (e² + 2e)/(e² + 2e + 2) up to 0, and (1 +
/// 2e)/(1 + 2e + 2e²) above.
struct Mish {
  explicit Mish(const ActivationConstants&) {}
  struct Quotient {
    float e, dividend, divisor;
    explicit Quotient(float x)
        : e(exponential_of_negative(-__builtin_fabsf(x))),
          dividend(x > 0.0f ? 1.0f + 2.0f * e : e * (e + 2.0f)),
          divisor(x > 0.0f ? dividend + 2.0f * e * e : dividend + 2.0f) {}
  };
  [[gnu::always_inline]] float value(float x) const {
    const Quotient q(x);
    return x * (q.dividend / q.divisor);
  }
  [[gnu::always_inline]] float gradient(float x, float dy) const {
    const Quotient q(x);
    const float e = q.e, power = x > 0.0f ? e * e : e;
    const float slope = 4.0f * power * (1.0f + e) / (q.divisor * q.divisor);
    return dy * (q.dividend / q.divisor + x * slope);
  }
};

/// The function is x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2, which is x times the logistic sigmoid
/// of twice the argument of the hyperbolic tangent. The gradient is NaN if x is infinite.
struct GeluTanh {
  explicit GeluTanh(const ActivationConstants&) {}
  static constexpr float linear = 1.59576912f, cubic = 0.0713548163f;
  [[gnu::always_inline]] float value(float x) const {
    return x / (1.0f + exponential(-x * multiply_add(x * x, cubic, linear)));
  }
  [[gnu::always_inline]] float gradient(float x, float dy) const {
    // Beyond ±16 the slope is 1 or 0 in f32.
    const float near = x < -16.0f ? -16.0f : x > 16.0f ? 16.0f : x, square = near * near;
    const float s = logistic(near * multiply_add(square, cubic, linear));
    const float steepness = multiply_add(square, 3.0f * cubic, linear);
    return dy * (s + near * s * (1.0f - s) * steepness) + (x - x);
  }
};

/// The function is x between `low` and `high`, else the bound that is nearer. At the bounds
/// themselves, and for a NaN, the gradient is 0.
struct Hardtanh {
  explicit Hardtanh(const ActivationConstants& constants)
      : low(constants.low), high(constants.high) {}
  [[gnu::always_inline]] float value(float x) const {
    const float above = x < low ? low : x;
    return above > high ? high : above;
  }
  [[gnu::always_inline]] float gradient(float x, float dy) const {
    return x > low && x < high ? dy : 0.0f;
  }
  float low, high;
};

/// The function is (x + 3)/6 from -3 to 3, 0 below and 1 above.
struct Hardsigmoid {
  explicit Hardsigmoid(const ActivationConstants&) {}
  [[gnu::always_inline]] static float six_times(float x) {
    const float shifted = x + 3.0f, above = shifted < 0.0f ? 0.0f : shifted;
    return above > 6.0f ? 6.0f : above;
  }
  [[gnu::always_inline]] float value(float x) const { return six_times(x) / 6.0f; }
  [[gnu::always_inline]] float gradient(float x, float dy) const {
    const float between = dy / 6.0f;
    return x > -3.0f && x < 3.0f ? between : 0.0f;
  }
};

/// The function is x·(x + 3)/6 from -3 to 3, 0 below and x above.
struct Hardswish {
  explicit Hardswish(const ActivationConstants&) {}
  [[gnu::always_inline]] float value(float x) const {
    return x * (Hardsigmoid::six_times(x) / 6.0f);
  }
  [[gnu::always_inline]] float gradient(float x, float dy) const {
    const float between = dy * (x / 3.0f + 0.5f), above = x >= 3.0f ? dy : between;
    return x < -3.0f ? 0.0f : above;
  }
};

/// The function is 0 from -bound to bound; beyond these numbers it is x moved towards 0 by `bound`.
struct Softshrink {
  explicit Softshrink(const ActivationConstants& constants) : bound(constants.bound) {}
  [[gnu::always_inline]] float value(float x) const {
    const float near = x == x ? 0.0f : x, below = x < -bound ? x + bound : near;
    return x > bound ? x - bound : below;
  }
  [[gnu::always_inline]] float gradient(float x, float dy) const {
    return x > bound || x < -bound ? dy : 0.0f;
  }
  float bound;
};

/// The function is 0 from -bound to bound, and x beyond these numbers.
struct Hardshrink {
  explicit Hardshrink(const ActivationConstants& constants) : bound(constants.bound) {}
  [[gnu::always_inline]] float value(float x) const { return x >= -bound && x <= bound ? 0.0f : x; }
  [[gnu::always_inline]] float gradient(float x, float dy) const {
    return x > bound || x < -bound ? dy : 0.0f;
  }
  float bound;
};

/// The function is x above the threshold, and `other` up to the threshold.
struct Threshold {
  explicit Threshold(const ActivationConstants& constants)
      : threshold(constants.threshold), other(constants.value) {}
  [[gnu::always_inline]] float value(float x) const { return x <= threshold ? other : x; }
  [[gnu::always_inline]] float gradient(float x, float dy) const {
    return x <= threshold ? 0.0f : dy;
  }
  float threshold, other;
};

}  // namespace penstock::graph::PENSTOCK_ISA
