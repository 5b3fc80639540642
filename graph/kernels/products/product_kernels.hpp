// ProductKernels are matrix products and the convolutions that are made of them, a part of
// KernelTable. This header has declarations only, because sources of every instruction set include
// it.
#pragma once

#include <cstdint>

#include "graph/kernels/products/windows.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

/// Is a matrix in memory, whose element (i,j) is data[i * row_stride + j * column_stride]. One of
/// the strides is 1.
struct ConstMatrix {
  const float* data;
  std::int64_t row_stride, column_stride;
};

/// Describes result [rows,columns] = left [rows,depth] * right [depth,columns] (+ bias). The result
/// is row-major and dense.
struct Product {
  std::int64_t rows, columns, depth;
  ConstMatrix left, right;
  const float* bias = nullptr;  ///< Has a number for each column, or is null.
  bool relu = false;            ///< Replaces results below zero by zero.
  float* result;
};

/// Holds kernels, each of which computes a part of its units.
struct ProductKernels {
  /// Computes every element as a sum in the order of depth. The units are those that
  /// product_units() counts, and the workspace has product_floats() floats.
  void (*multiply)(const Product&, Part, float* workspace);

  /// Computes every place of the windows' target. `bias` has a number per result and may be null.
  /// The units are those that convolve_units() counts, and the workspace has convolve_floats()
  /// floats.
  void (*convolve)(const Windows&, Part, const float* source, const float* weight,
                   const float* bias, float* target, float* workspace);
  /// Computes weight_gradient [results,channels,taps] from the gradient of the target. The units
  /// are results, and the workspace has weight_gradient_floats() floats.
  void (*convolve_weight_gradient)(const Windows&, Part, const float* source,
                                   const float* target_gradient, float* weight_gradient,
                                   float* workspace);
};

}  // namespace penstock::graph
