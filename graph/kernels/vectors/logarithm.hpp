// This header has the logarithm and functions that follow from it. They are plain arithmetic: the
// compiler can make vectors of loops over them, and no library has an influence on their bits. They
// are for kernels that the build compiles once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/exponential.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Returns log(x) to about one unit in the last place. The result is -inf for 0 and for denormal
/// numbers, and NaN below 0. The function writes `x` as 2^n·(1 + r) with 1 + r from √½ to √2, and
/// computes n·ln 2 + log(1 + r) with the polynomial of the Cephes library (Moshier, logf).
[[gnu::always_inline]] inline float logarithm(float x) {
  constexpr std::uint32_t root_half = 0x3f3504f3;
  // The bits are unsigned, because differences of them wrap around if `x` is negative. What follows
  // from such a difference is not used: the result is then NaN.
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::int32_t exponent = static_cast<std::int32_t>(bits - root_half) >> 23;
  const float n = static_cast<float>(exponent);
  const std::uint32_t shifted = static_cast<std::uint32_t>(exponent) << 23;
  const float r = __builtin_bit_cast(float, bits - shifted) - 1.0f;
  const float square = r * r;
  float p = 7.0376836292e-2f;
  p = multiply_add(p, r, -1.1514610310e-1f);
  p = multiply_add(p, r, 1.1676998740e-1f);
  p = multiply_add(p, r, -1.2420140846e-1f);
  p = multiply_add(p, r, 1.4249322787e-1f);
  p = multiply_add(p, r, -1.6668057665e-1f);
  p = multiply_add(p, r, 2.0000714765e-1f);
  p = multiply_add(p, r, -2.4999993993e-1f);
  p = multiply_add(p, r, 3.3333331174e-1f);
  float y = p * r * square;
  y = multiply_add(n, -2.12194440e-4f, y);
  y = multiply_add(square, -0.5f, y);
  y = multiply_add(n, 0.693359375f, r + y);
  const float low = x < 0.0f ? __builtin_nanf("") : -__builtin_inff();
  const float high = x == x ? y : x;
  return x < 0x1p-126f ? low : x > 0x1.fffffep127f ? x : high;
}

/// Returns log(1 + x) for `x` from 0 to 1. Rounding 1 + x to f32 loses digits of a small `x`; the
/// logarithm of the rounded sum is multiplied by x/(rounded sum - 1) to make up for that (Kahan).
[[gnu::always_inline]] inline float logarithm_of_one_and(float x) {
  const float sum = 1.0f + x, rounded = sum - 1.0f;
  return rounded == 0.0f ? x : logarithm(sum) * (x / rounded);
}

/// Returns log(1 + exp(x)).
[[gnu::always_inline]] inline float softplus(float x) {
  const float size = x < 0.0f ? -x : x;
  return (x > 0.0f ? x : 0.0f) + logarithm_of_one_and(exponential_of_negative(-size));
}

}  // namespace penstock::graph::PENSTOCK_ISA
