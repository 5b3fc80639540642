#include "graph/kernels/elementwise/elementary.hpp"

#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/exponential.hpp"
#include "graph/kernels/vectors/logarithm.hpp"
#include "graph/kernels/vectors/precise.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

void abs(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = __builtin_fabsf(x[i]); });
}

void exp(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = exponential(x[i]); });
}

void log(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = logarithm(x[i]); });
}

void sqrt(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = __builtin_sqrtf(x[i]); });
}

void reciprocal(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = 1.0f / x[i]; });
}

void rsqrt(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = 1.0f / __builtin_sqrtf(x[i]); });
}

void sin(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = sine_ahead(x[i], 0); });
}

void cos(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = sine_ahead(x[i], 1); });
}

void erf(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = error_function(x[i]); });
}

void floor(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = __builtin_floorf(x[i]); });
}

void ceil(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = __builtin_ceilf(x[i]); });
}

void round(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = __builtin_rintf(x[i]); });
}

void sign(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) {
    y[i] = (x[i] > 0.0f ? 1.0f : 0.0f) - (x[i] < 0.0f ? 1.0f : 0.0f);
  });
}

void pow(std::int64_t count, double exponent, const float* x, float* y) {
  const Exponent parts(exponent);
  for_each_element(count, [=](std::int64_t i) { y[i] = power(x[i], parts); });
}

void clamp(std::int64_t count, float low, float high, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) {
    const float above = x[i] < low ? low : x[i];
    y[i] = above > high ? high : above;
  });
}

void clamp_gradient(std::int64_t count, float low, float high, const float* x, const float* dy,
                    float* dx) {
  for_each_element(count,
                   [=](std::int64_t i) { dx[i] = x[i] >= low && x[i] <= high ? dy[i] : 0.0f; });
}

}  // namespace

extern const ElementaryKernels elementary_kernels;
const ElementaryKernels elementary_kernels{.abs = abs,
                                           .exp = exp,
                                           .log = log,
                                           .sqrt = sqrt,
                                           .reciprocal = reciprocal,
                                           .rsqrt = rsqrt,
                                           .sin = sin,
                                           .cos = cos,
                                           .erf = erf,
                                           .floor = floor,
                                           .ceil = ceil,
                                           .round = round,
                                           .sign = sign,
                                           .pow = pow,
                                           .clamp = clamp,
                                           .clamp_gradient = clamp_gradient};

}  // namespace penstock::graph::PENSTOCK_ISA
