// RowLossKernels are losses that compare vectors, the rows of two or three tensors [rows,width],
// and have a term for each row. They are a part of KernelTable. This header has declarations only,
// because sources of every instruction set include it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"

namespace penstock::graph {

/// Holds rows a and b, and a target for each pair of rows, which should be 1 or -1.
struct CosineRows {
  std::int64_t rows, width;
  float margin;
  const float *a, *b, *target;
};

/// Holds anchors, the rows that should be near them, and the rows that should be far from them.
struct TripletRows {
  std::int64_t rows, width;
  float margin, eps;
  bool manhattan;  ///< Says whether distances are |v|₁ in place of |v|₂.
  /// Says whether the far row's distance is the smaller one of its distances from the anchor and
  /// from the near row. Otherwise it is the distance from the anchor.
  bool swap;
  const float *anchor, *near, *far;
};

struct TripletGradients {
  float *anchor, *near, *far;
};

struct RowLossKernels {
  /// Computes y[row] = 1 - cos(a, b) where the target is 1, max(0, cos(a, b) - margin) where it is
  /// -1, and 0 elsewhere, with cos = a·b/√((a·a + 1e-12)(b·b + 1e-12)).
  void (*cosine)(const CosineRows&, float* y);
  /// Computes the gradients of a and b; `dloss` has a number per row.
  void (*cosine_gradient)(const CosineRows&, RowOperand dloss, float* da, float* db);
  /// Computes y[row] = max(0, margin + |anchor - near + eps| - |anchor - far + eps|).
  void (*triplet)(const TripletRows&, float* y);
  void (*triplet_gradient)(const TripletRows&, RowOperand dloss, const TripletGradients&);
};

}  // namespace penstock::graph
