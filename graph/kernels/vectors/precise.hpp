// This header has functions that are computed in double, because f32 would lose digits on the way,
// and the error function. They are plain arithmetic: the compiler can make vectors of loops over
// them, and no library has an influence on their bits. They are for kernels that the build compiles
// once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/exponential.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// When this number is added to another one, the lowest bits of the sum hold that other number
/// rounded to an integer.
inline constexpr double integer_shift = 0x1.8p52;

/// Returns sin(x + quarters·π/2), for `quarters` of 0 or 1. The function writes `x` as n·π/2 + r
/// with an integer n, and computes the Taylor series of sin r or, if n + quarters is odd, of cos r.
[[gnu::always_inline]] inline float sine_ahead(float x, std::uint64_t quarters) {
  const double wide = static_cast<double>(x);
  const double shifted = wide * 0x1.45f306dc9c883p-1 + integer_shift;
  const double r = wide - (shifted - integer_shift) * 0x1.921fb54442d18p+0, square = r * r;
  double sine = -1.0 / 39916800;
  sine = sine * square + 1.0 / 362880;
  sine = sine * square - 1.0 / 5040;
  sine = sine * square + 1.0 / 120;
  sine = sine * square - 1.0 / 6;
  sine = sine * square * r + r;
  double cosine = 1.0 / 479001600;
  cosine = cosine * square - 1.0 / 3628800;
  cosine = cosine * square + 1.0 / 40320;
  cosine = cosine * square - 1.0 / 720;
  cosine = cosine * square + 1.0 / 24;
  cosine = cosine * square - 1.0 / 2;
  cosine = cosine * square + 1.0;
  const std::uint64_t quarter = __builtin_bit_cast(std::uint64_t, shifted) + quarters;
  const double value = (quarter & 1) != 0 ? cosine : sine;
  return static_cast<float>((quarter & 2) != 0 ? -value : value);
}

/// Returns erf x. Below 1 the function computes the Taylor series, and from 1 on the probability of
/// a number beyond x·√2 under the normal distribution.
[[gnu::always_inline]] inline float error_function(float x) {
  const float size = x < 0.0f ? -x : x, square = x * x;
  float p = 1.0f / 76204800;
  p = multiply_add(p, square, -1.0f / 6894720);
  p = multiply_add(p, square, 1.0f / 685440);
  p = multiply_add(p, square, -1.0f / 75600);
  p = multiply_add(p, square, 1.0f / 9360);
  p = multiply_add(p, square, -1.0f / 1320);
  p = multiply_add(p, square, 1.0f / 216);
  p = multiply_add(p, square, -1.0f / 42);
  p = multiply_add(p, square, 0.1f);
  p = multiply_add(p, square, -1.0f / 3);
  constexpr float slope = 1.12837917f;  // This is 2/√π.
  const float near = slope * multiply_add(p * square, x, x);
  const float far = 2.0f * normal(1.41421356f * size).below - 1.0f;
  return size < 1.0f ? near : x < 0.0f ? -far : far;
}

/// An Exponent is the exponent of a power, with what power() needs to know of it.
struct Exponent {
  double value;
  /// A number below zero has a power only if the exponent is an integer. The power is below zero,
  /// too, if the integer is odd.
  double sign_below_zero;   ///< This is 1, -1, or NaN if there is no power.
  double sign_of_infinity;  ///< This is the sign of the power of -infinity, 1 or -1.
  double of_zero;           ///< This is the power of 0.
  double of_infinity;       ///< This is the power of infinity.

  explicit Exponent(double exponent)
      : value(exponent),
        sign_below_zero(__builtin_nan("")),
        sign_of_infinity(1),
        of_zero(exponent > 0 ? 0 : __builtin_inf()),
        of_infinity(exponent > 0 ? __builtin_inf() : 0) {
    const double half = exponent / 2;
    if (__builtin_trunc(exponent) == exponent)
      sign_below_zero = sign_of_infinity = __builtin_trunc(half) == half ? 1 : -1;
    if (exponent == 0) of_zero = of_infinity = 1;
  }
};

/// Returns log x for a normal number x above 0. The function writes `x` as 2^n·m with m from √½ to
/// √2, and computes the series of log m in (m - 1)/(m + 1).
[[gnu::always_inline]] inline double precise_logarithm(double x) {
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcd;
  const auto bits = __builtin_bit_cast(std::uint64_t, x);
  const std::int64_t exponent = static_cast<std::int64_t>(bits - root_half) >> 52;
  const double m = __builtin_bit_cast(double, bits - (static_cast<std::uint64_t>(exponent) << 52));
  const double s = (m - 1) / (m + 1), square = s * s;
  double p = 2.0 / 17;
  p = p * square + 2.0 / 15;
  p = p * square + 2.0 / 13;
  p = p * square + 2.0 / 11;
  p = p * square + 2.0 / 9;
  p = p * square + 2.0 / 7;
  p = p * square + 2.0 / 5;
  p = p * square + 2.0 / 3;
  p = p * square + 2.0;
  return static_cast<double>(exponent) * 0x1.62e42fefa39efp-1 + p * s;
}

/// Returns exp x for `x` from -200 to 200. The function writes `x` as n·log 2 + r with an integer
/// n, and computes the Taylor series of exp r.
[[gnu::always_inline]] inline double precise_exponential(double x) {
  const double shifted = x * 0x1.71547652b82fep+0 + integer_shift;
  const double r = x - (shifted - integer_shift) * 0x1.62e42fefa39efp-1;
  double p = 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 1.0 / 2;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const std::uint64_t n =
      __builtin_bit_cast(std::uint64_t, shifted) - __builtin_bit_cast(std::uint64_t, integer_shift);
  return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, p) + (n << 52));
}

/// Returns x to the power `exponent`, as C's pow() does, except that the power of a negative zero
/// is never negative.
[[gnu::always_inline]] inline float power(float x, const Exponent& exponent) {
  const double size = static_cast<double>(x < 0.0f ? -x : x);
  const bool is_normal = size > 0 && size < __builtin_inf();
  const double raised = exponent.value * precise_logarithm(is_normal ? size : 1.0);
  // Beyond these bounds the power is 0 or infinite in f32.
  const double bounded = raised < -200 ? -200 : raised > 200 ? 200 : raised;
  const double ordinary = precise_exponential(bounded);
  const double special = size == 0 ? exponent.of_zero : exponent.of_infinity;
  const double of_size = is_normal ? ordinary : special;
  // Minus infinity has a power also where other numbers below zero have none.
  const double sign = size < __builtin_inf() ? exponent.sign_below_zero : exponent.sign_of_infinity;
  const double of_number = x < 0.0f ? sign * of_size : of_size;
  const bool is_nan = x != x && exponent.value != 0;
  return is_nan ? x : static_cast<float>(of_number);
}

}  // namespace penstock::graph::PENSTOCK_ISA
