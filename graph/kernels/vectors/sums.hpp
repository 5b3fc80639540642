// This header has sums of many floats. `count` alone fixes the order in which floats are added,
// which is the same for every instruction set, and rounding errors do not grow with `count`. The
// functions are for kernels that the build compiles once per instruction set.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/vector.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Returns the sum of term(x[i], ...) over all `i`, computed in f32. `term` takes Vectors as well
/// as floats. The function keeps 32 partial sums and adds term i to partial sum i%32. At the end,
/// it adds the upper half of the partial sums to the lower half, and so on until one sum is left.
template <class Term, class... X>
[[gnu::always_inline]] inline float short_sum_of(std::int64_t count, Term term, const X*... x) {
  constexpr int partial_sums = 32, vectors = partial_sums / vector_size;
  Vector sums[vectors] = {};
  std::int64_t i = 0;
  for (; i + partial_sums <= count; i += partial_sums)
    unrolled<vectors>([&](auto v) { sums[v] += term(load(x + i + v * vector_size)...); });
  float single[partial_sums];
  __builtin_memcpy(single, sums, sizeof single);
  for (int part = 0; i < count; ++i, ++part) single[part] += term(x[i]...);
  for (int half = partial_sums / 2; half > 0; half /= 2)
    for (int part = 0; part < half; ++part) single[part] += single[part + half];
  return single[0];
}

/// Returns the sum of term(x[i], ...) over all `i`, for any `count`. The function computes sums of
/// up to 1024 terms in f32, and adds these up in double.
template <class Term, class... X>
[[gnu::always_inline]] inline double long_sum_of(std::int64_t count, Term term, const X*... x) {
  constexpr std::int64_t most = 1024;
  double sum = 0;
  for (std::int64_t i = 0; i < count; i += most)
    sum += static_cast<double>(short_sum_of(count - i < most ? count - i : most, term, (x + i)...));
  return sum;
}

/// Returns the sum of x.
[[gnu::always_inline]] inline double long_sum(std::int64_t count, const float* x) {
  return long_sum_of(
      count, [](auto element) { return element; }, x);
}

/// Returns the largest element of `x`, or -inf if there is none. An element that is NaN is ignored.
[[gnu::always_inline]] inline float largest(std::int64_t count, const float* x) {
  Vector peaks = broadcast(-__builtin_inff());
  std::int64_t i = 0;
  for (; i + vector_size <= count; i += vector_size) {
    const Vector next = load(x + i);
    peaks = next > peaks ? next : peaks;
  }
  float peak = peaks[0];
  if (i > 0)
    for (int lane = 1; lane < vector_size; ++lane) peak = peaks[lane] > peak ? peaks[lane] : peak;
  for (; i < count; ++i) peak = x[i] > peak ? x[i] : peak;
  return peak;
}

}  // namespace penstock::graph::PENSTOCK_ISA
