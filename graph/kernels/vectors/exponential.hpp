// This header has the exponential and functions that follow from it. They are plain arithmetic: the
// compiler can make vectors of loops over them, and no library has an influence on their bits. They
// are for kernels that the build compiles once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/each_element.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Returns exp(r) - 1 for |r| <= ln(2)/2, by the polynomial of the Cephes library (Moshier, expf).
[[gnu::always_inline]] inline float small_exponential_minus_one(float r) {
  float p = 1.9875691500e-4f;
  p = multiply_add(p, r, 1.3981999507e-3f);
  p = multiply_add(p, r, 8.3334519073e-3f);
  p = multiply_add(p, r, 4.1665795894e-2f);
  p = multiply_add(p, r, 1.6666665459e-1f);
  p = multiply_add(p, r, 5.0000001201e-1f);
  return multiply_add(p, r * r, r);
}

/// A Power is the number factor·2^exponent. `factor` is from 0.7 to 1.5; `exponent` is an integer
/// modulo 2^32, so that 2^32 - 1 stands for -1.
struct Power {
  float factor;
  std::uint32_t exponent;
};

/// Returns exp(x), which has to be a normal number in f32. The function writes `x` as n·ln 2 + r
/// with an integer n, and exp(x) is then exp(r)·2^n.
[[gnu::always_inline]] inline Power exponential_power(float x) {
  // When `shift` is added to a number, the lowest bits of the sum hold that number rounded to an
  // integer.
  constexpr float shift = 0x1.8p23f;
  const float shifted = multiply_add(x, 1.44269504f, shift);
  const float n = shifted - shift;
  // The logarithm of 2 is split into two parts. The first part, 0.693359375, has so few bits that
  // its product with `n` is exact.
  const float r = multiply_add(n, 2.12194440e-4f, multiply_add(n, -0.693359375f, x));
  return {small_exponential_minus_one(r) + 1.0f,
          __builtin_bit_cast(std::uint32_t, shifted) - __builtin_bit_cast(std::uint32_t, shift)};
}

/// For every x between these two numbers, exp(x) is a normal number in f32.
inline constexpr float lowest_exponent = -0x1.5d589ep+6f, highest_exponent = 0x1.62e42ep+6f;

/// Returns exp(x) to about one unit in the last place. The result is exactly 0 where f32 has no
/// normal number so small (below -87.33654), and infinite where it has none so large (above
/// 88.72283).
[[gnu::always_inline]] inline float exponential(float x) {
  constexpr float lowest = lowest_exponent, highest = highest_exponent;
  const Power power = exponential_power(x < lowest ? lowest : x > highest ? highest : x);
  // The function multiplies by 2^n by adding n to the exponent bits of exp(r). It does not compute
  // 2^n itself, which may be too large for f32 where exp(r)·2^n is not.
  const float y = __builtin_bit_cast(
      float, __builtin_bit_cast(std::uint32_t, power.factor) + (power.exponent << 23));
  const float above = x <= highest ? y : x + __builtin_inff();  // If x is NaN, the sum is NaN.
  return x < lowest ? 0.0f : above;
}

/// Returns what exponential(x) returns, with less work, for an `x` that is not above 0.
[[gnu::always_inline]] inline float exponential_of_negative(float x) {
  const Power power = exponential_power(x < lowest_exponent ? lowest_exponent : x);
  const float y = power.factor * __builtin_bit_cast(float, (power.exponent + 127u) << 23);
  return x < lowest_exponent ? 0.0f : y;
}

/// Returns exp(x) - 1, without losing digits near 0, for an `x` that is not above 0.
[[gnu::always_inline]] inline float exponential_of_negative_minus_one(float x) {
  const float far = exponential_of_negative(x) - 1.0f;
  return x < -0.34f ? far : small_exponential_minus_one(x);
}

/// Returns 1/(1 + exp(-x)).
[[gnu::always_inline]] inline float logistic(float x) {
  return 1.0f / (1.0f + exponential(-x));
}

/// Returns tanh x. Near 0, where 1 - 2/(exp(2x) + 1) would lose digits, the function computes the
/// polynomial of the Cephes library (Moshier, tanhf).
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

/// A Normal describes the standard normal distribution at one point x.
struct Normal {
  float density;  ///< This is exp(-x²/2)/√(2π).
  float below;    ///< This is the probability of a number below x.
};

/// Returns the standard normal distribution at `x`. The probability of a number beyond |x| is
/// computed as exp(-x²/2) times a polynomial in t = 1/(1 + 0.3·|x|), as in formula 7.1.26 of
/// Abramowitz and Stegun. The polynomial has degree 8 and is fitted so that the relative error of
/// this small probability is below 5e-7 wherever f32 can hold it: gelu of a large negative number
/// consists of this probability alone.
[[gnu::always_inline]] inline Normal normal(float x) {
  const float size = x < 0.0f ? -x : x;
  const float bell = exponential_of_negative(-0.5f * x * x);
  const float t = 1.0f / multiply_add(0.3f, size, 1.0f);
  float p = 0.0360362753f;
  p = multiply_add(p, t, -0.158713505f);
  p = multiply_add(p, t, 0.208964422f);
  p = multiply_add(p, t, -0.0560957380f);
  p = multiply_add(p, t, 0.129843339f);
  p = multiply_add(p, t, 0.0995230824f);
  p = multiply_add(p, t, 0.120816886f);
  p = multiply_add(p, t, 0.119625166f);
  const float tail = p * t * bell;
  return {0.398942280f * bell, x < 0.0f ? tail : 1.0f - tail};
}

}  // namespace penstock::graph::PENSTOCK_ISA
