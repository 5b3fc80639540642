// ArithmeticKernels are sums, products and copies element by element, a part of KernelTable. This
// header has declarations only, because sources of every instruction set include it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"

namespace penstock::graph {

/// In every function, y may have the memory of any of the operands before it that does not repeat.
struct ArithmeticKernels {
  using Binary = void (*)(std::int64_t count, RowOperand a, RowOperand b, float* y);

  Binary add;
  Binary subtract;
  Binary multiply;
  void (*fill)(std::int64_t count, float value, float* y);
  void (*scale)(std::int64_t count, float factor, const float* x, float* y);
  /// Computes y = factor_a·a + factor_b·b; y may have the memory of a or b.
  void (*blend)(std::int64_t count, float factor_a, const float* a, float factor_b, const float* b,
                float* y);
  /// Computes y[i] = x[i*step].
  void (*gather)(std::int64_t count, std::int64_t step, const float* x, float* y);
};

}  // namespace penstock::graph
