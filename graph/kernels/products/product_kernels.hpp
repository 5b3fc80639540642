// ProductKernels: matrix products and the convolutions that are made of them, a part of
// KernelTable. Declarations only, as sources of every instruction set include this.
#pragma once

#include <cstdint>

#include "graph/kernels/products/windows.hpp"
#include "graph/values/part.hpp"

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

/// Each computes a part of its units.
struct ProductKernels {
  /// Every element is summed in the order of depth. Units: `product_units`. Workspace:
  /// `product_floats`.
  void (*multiply)(const Product&, Part, float* workspace);

  /// Every place of the windows' target; `bias`, one per result, may be null. Units:
  /// `convolve_units`. Workspace: `convolve_floats`.
  void (*convolve)(const Windows&, Part, const float* source, const float* weight,
                   const float* bias, float* target, float* workspace);
  /// weight_gradient [results,channels,taps] from the gradient of the target. Units: results.
  /// Workspace: `weight_gradient_floats`.
  void (*convolve_weight_gradient)(const Windows&, Part, const float* source,
                                   const float* target_gradient, float* weight_gradient,
                                   float* workspace);
};

}  // namespace penstock::graph
