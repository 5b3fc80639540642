// RowLossKernels compute losses that compare the rows of two or three tensors [rows,width], and
// have one term for each row. They are a part of KernelTable. This header has declarations only,
// because sources of every instruction set include it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"

namespace penstock::graph {

/// CosineRows are two tensors [rows,width] whose rows are compared, and a target for each pair of
/// rows, which should be 1 (alike) or -1 (unlike).
struct CosineRows {
  std::int64_t rows, width;
  float margin;
  const float *a, *b, *target;
};

/// TripletRows are three tensors [rows,width]. Row i of `near` should be near row i of `anchor`,
/// and row i of `far` should be far from it.
struct TripletRows {
  std::int64_t rows, width;
  float margin, eps;
  bool manhattan;  ///< If this is true, distances are |v|₁ in place of |v|₂.
  /// If this is true, the distance of a row of `far` is the smaller one of its distances from the
  /// rows of `anchor` and of `near`. Otherwise it is the distance from the row of `anchor`.
  bool swap;
  const float *anchor, *near, *far;
};

struct TripletGradients {
  float *anchor, *near, *far;
};

struct RowLossKernels {
  /// Computes y[row] = 1 - cos(a, b) where the target is 1, max(0, cos(a, b) - margin) where it is
  /// -1, and 0 elsewhere, with cos(a, b) = a·b/√((a·a + 1e-12)(b·b + 1e-12)).
  void (*cosine)(const CosineRows&, float* y);
  /// Computes the gradients of `a` and `b`. `dloss` has the gradient of each row's loss.
  void (*cosine_gradient)(const CosineRows&, RowOperand dloss, float* da, float* db);
  /// Computes y[row] = max(0, margin + |anchor - near + eps| - |anchor - far + eps|).
  void (*triplet)(const TripletRows&, float* y);
  void (*triplet_gradient)(const TripletRows&, RowOperand dloss, const TripletGradients&);
};

}  // namespace penstock::graph
