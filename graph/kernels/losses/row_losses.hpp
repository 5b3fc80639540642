// RowLossKernels: losses that compare vectors, the rows of two or three tensors [rows,width], and
// have a term for each row; a part of KernelTable. Declarations only, as sources of every
// instruction set include this.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/row_operand.hpp"

namespace penstock::graph {

/// Rows a and b and a target of 1 (above 0) or -1 for each.
struct CosineRows {
  std::int64_t rows, width;
  float margin;
  const float *a, *b, *target;
};

/// An anchor, what should be near it, and what should be far.
struct TripletRows {
  std::int64_t rows, width;
  float margin, eps;
  bool manhattan;  ///< the distance |v|₁; else |v|₂
  bool swap;       ///< the far one's distance is the smaller of those to anchor and near one
  const float *anchor, *near, *far;
};

struct TripletGradients {
  float *anchor, *near, *far;
};

struct RowLossKernels {
  /// y[row] = 1 - cos(a, b) where the target is 1, max(0, cos(a, b) - margin) where it is -1; cos
  /// is a·b/√((a·a + 1e-12)(b·b + 1e-12)).
  void (*cosine)(const CosineRows&, float* y);
  /// The gradients of both, `dloss` by row.
  void (*cosine_gradient)(const CosineRows&, RowOperand dloss, float* da, float* db);
  /// y[row] = max(0, margin + |anchor - near + eps| - |anchor - far + eps|).
  void (*triplet)(const TripletRows&, float* y);
  void (*triplet_gradient)(const TripletRows&, RowOperand dloss, const TripletGradients&);
};

}  // namespace penstock::graph
