// exp and what follows from it, as plain arithmetic, so that loops over it become vectors and bits
// depend on no library. For kernels that the build compiles once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/each_element.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// exp(x) to about one unit in the last place; exactly 0 below -87.3 and infinite above 88.3, a
/// little before f32 would underflow and overflow. x = n·ln 2 + r gives 2^n·exp(r), with Cephes'
/// polynomial for |r| <= ln(2)/2 (Moshier, expf).
[[gnu::always_inline]] inline float exponential(float x) {
  constexpr float lowest = -87.3f, highest = 88.3f;
  constexpr float shift = 0x1.8p23f;  // added, it rounds to an integer in the lowest bits
  const float inside = x < lowest ? lowest : x > highest ? highest : x;
  const float shifted = multiply_add(inside, 1.44269504f, shift);
  const float n = shifted - shift;
  // ln 2 in two parts, the first of so few bits that n times it is exact.
  const float r = multiply_add(n, 2.12194440e-4f, multiply_add(n, -0.693359375f, inside));
  float p = 1.9875691500e-4f;
  p = multiply_add(p, r, 1.3981999507e-3f);
  p = multiply_add(p, r, 8.3334519073e-3f);
  p = multiply_add(p, r, 4.1665795894e-2f);
  p = multiply_add(p, r, 1.6666665459e-1f);
  p = multiply_add(p, r, 5.0000001201e-1f);
  p = multiply_add(p, r * r, r) + 1.0f;
  const auto integer =
      __builtin_bit_cast(std::uint32_t, shifted) - __builtin_bit_cast(std::uint32_t, shift);
  const float y = p * __builtin_bit_cast(float, (integer + 127u) << 23);
  return x < lowest ? 0.0f : x > highest ? __builtin_inff() : y;
}

/// 1/(1 + exp(-x)).
[[gnu::always_inline]] inline float logistic(float x) {
  return 1.0f / (1.0f + exponential(-x));
}

/// tanh x: Cephes' polynomial (Moshier, tanhf) near 0, where 1 - 2/(exp(2x) + 1) would cancel.
[[gnu::always_inline]] inline float hyperbolic_tangent(float x) {
  const float size = x < 0.0f ? -x : x, square = x * x;
  float p = -5.70498872745e-3f;
  p = multiply_add(p, square, 2.06390887954e-2f);
  p = multiply_add(p, square, -5.37397155531e-2f);
  p = multiply_add(p, square, 1.33314422036e-1f);
  p = multiply_add(p, square, -3.33332819422e-1f);
  const float near = multiply_add(p * square, x, x);
  const float far = 1.0f - 2.0f / (exponential(2.0f * size) + 1.0f);
  return size < 0.625f ? near : x < 0.0f ? -far : far;
}

/// The standard normal distribution at one point.
struct Normal {
  float density;  ///< exp(-x²/2)/√(2π)
  float below;    ///< the probability of less than x
};

/// `below` to 1.5e-7, from Abramowitz and Stegun's 7.1.26: the tail beyond |x| is a polynomial in
/// 1/(1 + p·|x|/√2), times exp(-x²/2).
[[gnu::always_inline]] inline Normal normal(float x) {
  const float size = x < 0.0f ? -x : x;
  const float bell = exponential(-0.5f * x * x);
  const float t = 1.0f / multiply_add(0.231641888f, size, 1.0f);
  float p = 0.5307027145f;
  p = multiply_add(p, t, -0.7265760135f);
  p = multiply_add(p, t, 0.7107068705f);
  p = multiply_add(p, t, -0.142248368f);
  p = multiply_add(p, t, 0.127414796f);
  const float tail = p * t * bell;
  return {0.398942280f * bell, x < 0.0f ? tail : 1.0f - tail};
}

}  // namespace penstock::graph::PENSTOCK_ISA
