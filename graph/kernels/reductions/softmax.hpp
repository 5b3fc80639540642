// SoftmaxKernels compute softmax along the lines of a tensor, its logarithm, and their gradients.
// They are a part of KernelTable. This header has declarations only, because sources of every
// instruction set include it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"

namespace penstock::graph {

/// LabelledLines are the operands, besides the log-probabilities, of the gradient of a cross
/// entropy. Line i has an element for each class, and its label is labels[i].
struct LabelledLines {
  Lines lines;
  const std::int64_t* labels;
  std::int64_t ignored;  ///< A line with this label has the gradient 0.
  /// This is how much higher the wanted probability of the label's class is than `uniform`.
  float of_target;
  float uniform;     ///< This is the wanted probability of every class but the label's.
  RowOperand dloss;  ///< This is the gradient of the loss of each line.
};

/// In every function, `y` may be written over `x`, and `dx` over `y` or `dy`.
struct SoftmaxKernels {
  /// Computes y = exp(x - max) / sum(exp(x - max)), which is exactly 0 where x is -inf.
  void (*softmax)(const Lines&, const float* x, float* y);
  /// Computes dx = y·(dy - sum(dy·y)).
  void (*softmax_gradient)(const Lines&, const float* y, const float* dy, float* dx);
  /// Computes y = x - max - log(sum(exp(x - max))).
  void (*log_softmax)(const Lines&, const float* x, float* y);
  /// Computes dx = dy - exp(y)·sum(dy).
  void (*log_softmax_gradient)(const Lines&, const float* y, const float* dy, float* dx);
  /// Computes dx = (exp(log_probabilities) - wanted)·dloss, where `wanted` is `uniform`, plus
  /// `of_target` at the label's class. `dx` may be written over `log_probabilities`.
  void (*cross_entropy_gradient)(const LabelledLines&, const float* log_probabilities, float* dx);
};

}  // namespace penstock::graph
