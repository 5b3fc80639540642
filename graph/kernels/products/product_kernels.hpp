// ProductKernels compute matrix products, and convolutions as matrix products. They are a part of
// KernelTable. This header has declarations only, because sources of every instruction set include
// it.
#pragma once

#include <cstdint>

#include "graph/kernels/products/windows.hpp"
#include "graph/values/part.hpp"

namespace penstock::graph {

/// A ConstMatrix is a matrix in memory. Its element (i,j) is data[i * row_stride + j *
/// column_stride], and one of the strides is 1.
struct ConstMatrix {
  const float* data;
  std::int64_t row_stride, column_stride;
};

/// A Product is result [rows,columns] = left [rows,depth] * right [depth,columns], plus `bias` if
/// there is one. The elements of the result lie row by row, without gaps.
struct Product {
  std::int64_t rows, columns, depth;
  ConstMatrix left, right;
  const float* bias = nullptr;  ///< This has a number for each column, or is null.
  bool relu = false;            ///< If this is true, results below zero are replaced by zero.
  float* result;
};

/// A PackedProduct is result [rows,columns] = left [rows,depth] * right [depth,columns], plus
/// `bias` if there is one. The elements of `left` and of `result` lie row by row, without gaps.
/// `right` is what ProductKernels::pack_factor() has made of the right factor.
struct PackedProduct {
  std::int64_t rows, columns, depth;
  const float *left, *right;
  const float* bias = nullptr;  ///< This has a number for each column, or is null.
  bool accumulate = false;      ///< If this is true, the product is added to the result.
  float* result;
};

/// Each kernel that has a Part computes those of its units that are in the Part.
struct ProductKernels {
  /// Computes the elements of a product. The order in which the products of an element are added
  /// depends on the sizes and strides of the Product and on the instruction set, but not on the
  /// Part. The units are those that product_units() counts, and the workspace has product_floats()
  /// floats.
  void (*multiply)(const Product&, Part, float* workspace);

  /// Packs the right factor [depth,columns] of products that multiply_packed() computes.
  /// `packed` has packed_factor_floats() floats.
  void (*pack_factor)(std::int64_t columns, std::int64_t depth, const ConstMatrix& right,
                      float* packed);
  /// Computes a product whose right factor is packed already, because several products share it.
  /// The bits of a row of the result do not depend on the other rows. The workspace has
  /// packed_product_floats() floats.
  void (*multiply_packed)(const PackedProduct&, float* workspace);

  /// Packs the weights of a convolution for which packs_panels() is true, in the order in which
  /// convolve() reads them if Windows::packed is true. `packed` has packed_floats() floats. The
  /// units are the panels that panels_of() counts.
  void (*pack_panels)(const Windows&, Part, const float* weight, float* packed);
  /// Computes every place of the target of a convolution. `bias` has a number for each plane of the
  /// target, or is null. The units are those that convolve_units() counts, and the workspace has
  /// convolve_floats() floats.
  void (*convolve)(const Windows&, Part, const float* source, const float* weight,
                   const float* bias, float* target, float* workspace);
  /// Computes `weight_gradient` [results,channels,taps] from the gradient of the target, where
  /// `results` is the number of its planes. The units are the planes of the target, and the
  /// workspace has weight_gradient_floats() floats.
  void (*convolve_weight_gradient)(const Windows&, Part, const float* source,
                                   const float* target_gradient, float* weight_gradient,
                                   float* workspace);
};

}  // namespace penstock::graph
