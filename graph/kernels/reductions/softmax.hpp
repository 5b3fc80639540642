// SoftmaxKernels: softmax along the lines of a tensor and its logarithm, a part of KernelTable.
// Declarations only, as sources of every instruction set include this.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/lines.hpp"
#include "graph/kernels/vectors/row_operand.hpp"

namespace penstock::graph {

/// What a cross entropy's gradient needs beside the log-probabilities; line i of the scores has
/// label i, its elements are its classes.
struct LabelledLines {
  Lines lines;
  const std::int64_t* labels;
  std::int64_t ignored;  ///< a line with this label has the gradient 0
  float own;             ///< the probability wanted of the line's own class, beyond `uniform`
  float uniform;         ///< the probability wanted of every class
  RowOperand dloss;      ///< of line i
};

/// y may be x, dx may be y or dy.
struct SoftmaxKernels {
  /// y = exp(x - max) / sum(exp(x - max)); exactly 0 where x is -inf.
  void (*softmax)(const Lines&, const float* x, float* y);
  /// dx = y·(dy - sum(dy·y)).
  void (*softmax_gradient)(const Lines&, const float* y, const float* dy, float* dx);
  /// y = x - max - log(sum(exp(x - max))).
  void (*log_softmax)(const Lines&, const float* x, float* y);
  /// dx = dy - exp(y)·sum(dy).
  void (*log_softmax_gradient)(const Lines&, const float* y, const float* dy, float* dx);
  /// dx = (exp(log_probabilities) - wanted)·dloss; dx may be log_probabilities.
  void (*cross_entropy_gradient)(const LabelledLines&, const float* log_probabilities, float* dx);
};

}  // namespace penstock::graph
