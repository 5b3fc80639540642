#include "graph/kernels/elementwise/arithmetic.hpp"

#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/precise.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

template <class F>
[[gnu::always_inline]] inline void binary(std::int64_t count, RowOperand a, RowOperand b, float* y,
                                          F f) {
  const float *from_a = a.data, *from_b = b.data;
  if (a.repeats)
    for_each_element(
        count, [=, one = *from_a](std::int64_t i) { y[i] = f(one, from_b[b.repeats ? 0 : i]); });
  else if (b.repeats)
    for_each_element(count, [=, one = *from_b](std::int64_t i) { y[i] = f(from_a[i], one); });
  else
    for_each_element(count, [=](std::int64_t i) { y[i] = f(from_a[i], from_b[i]); });
}

void add(std::int64_t count, RowOperand a, RowOperand b, float* y) {
  binary(count, a, b, y, [](float of_a, float of_b) { return of_a + of_b; });
}

void subtract(std::int64_t count, RowOperand a, RowOperand b, float* y) {
  binary(count, a, b, y, [](float of_a, float of_b) { return of_a - of_b; });
}

void multiply(std::int64_t count, RowOperand a, RowOperand b, float* y) {
  binary(count, a, b, y, [](float of_a, float of_b) { return of_a * of_b; });
}

void divide(std::int64_t count, RowOperand a, RowOperand b, float* y) {
  binary(count, a, b, y, [](float of_a, float of_b) { return of_a / of_b; });
}

void minimum(std::int64_t count, RowOperand a, RowOperand b, float* y) {
  binary(count, a, b, y, [](float of_a, float of_b) {
    const float smaller = of_a < of_b ? of_a : of_b;
    return of_a != of_a ? of_a : smaller;
  });
}

void maximum(std::int64_t count, RowOperand a, RowOperand b, float* y) {
  binary(count, a, b, y, [](float of_a, float of_b) {
    const float larger = of_a > of_b ? of_a : of_b;
    return of_a != of_a ? of_a : larger;
  });
}

void power_of_elements(std::int64_t count, RowOperand a, RowOperand b, float* y) {
  binary(count, a, b, y, [](float of_a, float of_b) {
    // The power computes the product of the exponent and a logarithm, which is NaN for an infinite
    // exponent and the logarithm of 1. A number beyond these bounds has the same powers.
    constexpr float most = 0x1p100f;
    const float above = of_b < -most ? -most : of_b;
    const float found = power(of_a, Exponent(static_cast<double>(above > most ? most : above)));
    return of_b == of_b ? found : of_a == 1.0f ? 1.0f : of_b;
  });
}

void equal(std::int64_t count, RowOperand a, RowOperand b, float* y) {
  binary(count, a, b, y, [](float of_a, float of_b) { return of_a == of_b ? 1.0f : 0.0f; });
}

void less(std::int64_t count, RowOperand a, RowOperand b, float* y) {
  binary(count, a, b, y, [](float of_a, float of_b) { return of_a < of_b ? 1.0f : 0.0f; });
}

void less_equal(std::int64_t count, RowOperand a, RowOperand b, float* y) {
  binary(count, a, b, y, [](float of_a, float of_b) { return of_a <= of_b ? 1.0f : 0.0f; });
}

void select(std::int64_t count, RowOperand condition, RowOperand a, RowOperand b, float* y) {
  const std::int64_t step = condition.repeats ? 0 : 1, step_a = a.repeats ? 0 : 1,
                     step_b = b.repeats ? 0 : 1;
  for_each_element(count, [=](std::int64_t i) {
    const float of_a = a.data[i * step_a], of_b = b.data[i * step_b];
    y[i] = condition.data[i * step] != 0.0f ? of_a : of_b;
  });
}

void fill(std::int64_t count, float value, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = value; });
}

void scale(std::int64_t count, float factor, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = factor * x[i]; });
}

void blend(std::int64_t count, float factor_a, const float* a, float factor_b, const float* b,
           float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = factor_a * a[i] + factor_b * b[i]; });
}

void gather(std::int64_t count, std::int64_t step, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = x[i * step]; });
}

}  // namespace

extern const ArithmeticKernels arithmetic_kernels;
const ArithmeticKernels arithmetic_kernels{.add = add,
                                           .subtract = subtract,
                                           .multiply = multiply,
                                           .divide = divide,
                                           .minimum = minimum,
                                           .maximum = maximum,
                                           .power = power_of_elements,
                                           .equal = equal,
                                           .less = less,
                                           .less_equal = less_equal,
                                           .select = select,
                                           .fill = fill,
                                           .scale = scale,
                                           .blend = blend,
                                           .gather = gather};

}  // namespace penstock::graph::PENSTOCK_ISA
