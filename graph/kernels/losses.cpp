#include "graph/kernels/losses.hpp"

#include "graph/kernels/each_element.hpp"
#include "graph/kernels/sums.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

struct Squared {
  template <class V>
  [[gnu::always_inline]] static V term(V difference) {
    return difference * difference;
  }
  [[gnu::always_inline]] static float slope(float difference) { return 2.0f * difference; }
};

struct Absolute {
  template <class V>
  [[gnu::always_inline]] static V term(V difference) {
    return difference > 0.0f ? difference : 0.0f - difference;
  }
  [[gnu::always_inline]] static float slope(float difference) {
    return difference > 0.0f ? 1.0f : difference < 0.0f ? -1.0f : 0.0f;
  }
};

template <class Loss>
void terms(std::int64_t count, const float* x, const float* target, float* y) {
  for_each_element(count, [=](std::int64_t i) { y[i] = Loss::term(x[i] - target[i]); });
}

template <class Loss>
double sum(std::int64_t count, const float* x, const float* target) {
  return long_sum_of(
      count, [](auto a, auto b) { return Loss::term(a - b); }, x, target);
}

template <class Loss>
void gradient(std::int64_t count, const float* x, const float* target, RowOperand dloss,
              float* dx) {
  const float* each = dloss.data;
  if (dloss.repeats)
    for_each_element(
        count, [=, one = *each](std::int64_t i) { dx[i] = Loss::slope(x[i] - target[i]) * one; });
  else
    for_each_element(count,
                     [=](std::int64_t i) { dx[i] = Loss::slope(x[i] - target[i]) * each[i]; });
}

template <class Loss>
constexpr DifferenceKernels kernels{
    .terms = terms<Loss>, .sum = sum<Loss>, .gradient = gradient<Loss>};

}  // namespace

extern const LossKernels loss_kernels;
const LossKernels loss_kernels{.squared = kernels<Squared>, .absolute = kernels<Absolute>};

}  // namespace penstock::graph::PENSTOCK_ISA
