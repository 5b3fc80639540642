// ProductKernels: matrix products and the convolutions that are made of them, a part of
// KernelTable. Declarations only, as sources of every instruction set include this.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// A matrix in memory; one of the strides is 1. Element (i,j): data[i * row_stride + j *
/// column_stride].
struct ConstMatrix {
  const float* data;
  std::int64_t row_stride, column_stride;
};

/// result [rows,columns] = left [rows,depth] * right [depth,columns] (+ bias), row-major and dense.
struct Product {
  std::int64_t rows, columns, depth;
  ConstMatrix left, right;
  const float* bias = nullptr;  ///< one per column; null: none
  bool relu = false;            ///< what is below zero becomes zero
  float* result;
};

struct ProductKernels {
  /// Every element is summed in the order of depth. Workspace: `product_floats`.
  void (*multiply)(const Product&, float* workspace);
};

}  // namespace penstock::graph
