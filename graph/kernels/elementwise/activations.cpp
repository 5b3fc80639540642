#include "graph/kernels/elementwise/activations.hpp"

#include "graph/kernels/elementwise/activation_formulas.hpp"
#include "graph/kernels/vectors/each_element.hpp"
#include "graph/kernels/vectors/exponential.hpp"
#include "graph/kernels/vectors/sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

void relu(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = x[i] < 0.0f ? 0.0f : x[i]; });
}

void relu_gradient(std::int64_t count, const float* from, const float* dy, float* dx) {
  for_each_element(count, [=](std::int64_t i) { dx[i] = from[i] <= 0.0f ? 0.0f : dy[i]; });
}

void leaky_relu(std::int64_t count, float slope, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) {
    const float below = slope * x[i];
    y[i] = x[i] < 0.0f ? below : x[i];
  });
}

void leaky_relu_gradient(std::int64_t count, float slope, const float* from, const float* dy,
                         float* dx) {
  for_each_element(count, [=](std::int64_t i) {
    const float below = slope * dy[i];
    dx[i] = from[i] > 0.0f ? dy[i] : below;
  });
}

void gelu(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = x[i] * normal(x[i]).below; });
}

void gelu_gradient(std::int64_t count, const float* x, const float* dy, float* dx) {
  for_each_element(count, [=](std::int64_t i) {
    const auto [density, below] = normal(x[i]);
    dx[i] = dy[i] * multiply_add(x[i], density, below);
  });
}

void silu(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = x[i] / (1.0f + exponential(-x[i])); });
}

void silu_gradient(std::int64_t count, const float* x, const float* dy, float* dx) {
  for_each_element(count, [=](std::int64_t i) {
    const float s = logistic(x[i]);
    dx[i] = dy[i] * s * multiply_add(x[i], 1.0f - s, 1.0f);
  });
}

void sigmoid(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = logistic(x[i]); });
}

void sigmoid_gradient(std::int64_t count, const float* y, const float* dy, float* dx) {
  for_each_element(count, [=](std::int64_t i) { dx[i] = dy[i] * y[i] * (1.0f - y[i]); });
}

void tanh(std::int64_t count, const float* x, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = hyperbolic_tangent(x[i]); });
}

void tanh_gradient(std::int64_t count, const float* y, const float* dy, float* dx) {
  for_each_element(count, [=](std::int64_t i) { dx[i] = dy[i] * (1.0f - y[i] * y[i]); });
}

double slope_gradient(std::int64_t count, const float* x, const float* dy) {
  return long_sum_of(
      count, [](auto element, auto d) { return element > 0.0f ? decltype(d){} : element * d; }, x,
      dy);
}

template <class Formula>
void apply_formula(std::int64_t count, const ActivationConstants& constants, const float* x,
                   float* y) {
  for_each_element(
      count, [=, formula = Formula(constants)](std::int64_t i) { y[i] = formula.value(x[i]); });
}

template <class Formula>
void apply_formula_gradient(std::int64_t count, const ActivationConstants& constants,
                            const float* x, const float* dy, float* dx) {
  for_each_element(count, [=, formula = Formula(constants)](std::int64_t i) {
    dx[i] = formula.gradient(x[i], dy[i]);
  });
}

template <class Formula>
constexpr FormulaKernels formula_kernels{.function = apply_formula<Formula>,
                                         .gradient = apply_formula_gradient<Formula>};

/// Computes y = kept(x) where the element's bit in `mask` is 1, and y = dropped elsewhere.
template <class Kept>
[[gnu::always_inline]] inline void masked(std::int64_t count, const std::int64_t* mask,
                                          float dropped, const float* x, float* y, Kept kept) {
  constexpr std::int64_t word_bits = 64;
  for (std::int64_t first = 0; first < count; first += word_bits) {
    const auto word = static_cast<std::uint64_t>(mask[first / word_bits]);
    const std::int64_t left = count - first;
    for_each_element(left < word_bits ? left : word_bits, [=](std::int64_t i) {
      const float value = kept(x[first + i]);
      y[first + i] = (word >> i & 1) != 0 ? value : dropped;
    });
  }
}

void dropout(std::int64_t count, const std::int64_t* mask, float scale, const float* x, float* y) {
  masked(count, mask, 0, x, y, [=](float element) { return element * scale; });
}

void alpha_dropout(std::int64_t count, const std::int64_t* mask, float scale, float shift,
                   float dropped, const float* x, float* y) {
  masked(count, mask, dropped, x, y,
         [=](float element) { return multiply_add(element, scale, shift); });
}

}  // namespace

extern const ActivationKernels activation_kernels;
const ActivationKernels activation_kernels{.relu = relu,
                                           .relu_gradient = relu_gradient,
                                           .gelu = gelu,
                                           .gelu_gradient = gelu_gradient,
                                           .silu = silu,
                                           .silu_gradient = silu_gradient,
                                           .sigmoid = sigmoid,
                                           .sigmoid_gradient = sigmoid_gradient,
                                           .tanh = tanh,
                                           .tanh_gradient = tanh_gradient,
                                           .leaky_relu = leaky_relu,
                                           .leaky_relu_gradient = leaky_relu_gradient,
                                           .slope_gradient = slope_gradient,
                                           .elu = formula_kernels<Elu>,
                                           .gelu_tanh = formula_kernels<GeluTanh>,
                                           .hardshrink = formula_kernels<Hardshrink>,
                                           .hardsigmoid = formula_kernels<Hardsigmoid>,
                                           .hardswish = formula_kernels<Hardswish>,
                                           .hardtanh = formula_kernels<Hardtanh>,
                                           .logsigmoid = formula_kernels<Logsigmoid>,
                                           .mish = formula_kernels<Mish>,
                                           .softplus = formula_kernels<Softplus>,
                                           .softshrink = formula_kernels<Softshrink>,
                                           .softsign = formula_kernels<Softsign>,
                                           .threshold = formula_kernels<Threshold>,
                                           .dropout = dropout,
                                           .alpha_dropout = alpha_dropout};

}  // namespace penstock::graph::PENSTOCK_ISA
