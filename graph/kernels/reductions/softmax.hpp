// SoftmaxKernels are softmax along the lines of a tensor, and its logarithm. They are a part of
// KernelTable. This header has declarations only, because sources of every instruction set include
// it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"

namespace penstock::graph {

/// Holds what the gradient of a cross entropy needs besides the log-probabilities. Line i of the
/// scores has label i, and one element for each class.
struct LabelledLines {
  Lines lines;
  const std::int64_t* labels;
  std::int64_t ignored;  ///< A line with this label has the gradient 0.
  /// Is the probability that is wanted of the label's class in addition to `uniform`.
  float of_target;
  float uniform;     ///< Is the probability that is wanted of every class.
  RowOperand dloss;  ///< Has a number for each line.
};

/// In every function, y may have the memory of x, and dx that of y or dy.
struct SoftmaxKernels {
  /// Computes y = exp(x - max) / sum(exp(x - max)), which is exactly 0 where x is -inf.
  void (*softmax)(const Lines&, const float* x, float* y);
  /// Computes dx = y·(dy - sum(dy·y)).
  void (*softmax_gradient)(const Lines&, const float* y, const float* dy, float* dx);
  /// Computes y = x - max - log(sum(exp(x - max))).
  void (*log_softmax)(const Lines&, const float* x, float* y);
  /// Computes dx = dy - exp(y)·sum(dy).
  void (*log_softmax_gradient)(const Lines&, const float* y, const float* dy, float* dx);
  /// Computes dx = (exp(log_probabilities) - wanted)·dloss, where `wanted` is uniform, plus
  /// of_target at the label's class. dx may have the memory of log_probabilities.
  void (*cross_entropy_gradient)(const LabelledLines&, const float* log_probabilities, float* dx);
};

}  // namespace penstock::graph
