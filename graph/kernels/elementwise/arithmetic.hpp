// ArithmeticKernels compute sums, products and copies, element by element. They are a part of
// KernelTable. This header has declarations only, because sources of every instruction set include
// it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"

namespace penstock::graph {

/// The result `y` of a function may be written over any of its operands, except for a RowOperand
/// that repeats one element and for the operand of gather().
struct ArithmeticKernels {
  using Binary = void (*)(std::int64_t count, RowOperand a, RowOperand b, float* y);

  Binary add;
  Binary subtract;
  Binary multiply;
  Binary divide;
  Binary minimum;  ///< Computes the smaller number, or NaN if one of the two is NaN.
  Binary maximum;  ///< Computes the larger number, or NaN if one of the two is NaN.
  /// Computes a to the power b, as C's pow() does, except that the power of a negative zero is
  /// never negative.
  Binary power;
  // These compute 1 where the comparison holds, and 0 elsewhere.
  Binary equal;
  Binary less;
  Binary less_equal;
  /// Computes a where the condition is not 0, and b elsewhere.
  void (*select)(std::int64_t count, RowOperand condition, RowOperand a, RowOperand b, float* y);
  void (*fill)(std::int64_t count, float value, float* y);
  void (*scale)(std::int64_t count, float factor, const float* x, float* y);
  /// Computes y = factor_a·a + factor_b·b.
  void (*blend)(std::int64_t count, float factor_a, const float* a, float factor_b, const float* b,
                float* y);
  /// Computes y[i] = x[i*step].
  void (*gather)(std::int64_t count, std::int64_t step, const float* x, float* y);
};

}  // namespace penstock::graph
