// These kernels are the matrix product, and three ways to compute one of few rows without packing
// the right factor, which is then read where it lies, once, each column or row along its own run of
// memory. The build compiles them once per instruction set.
#pragma once

#include "graph/kernels/products/product_kernels.hpp"
#include "graph/kernels/products/units.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Computes a part of a product in the best way for it, as ProductKernels says.
void multiply(const Product& product, Part part, float* workspace);

/// Returns whether `multiply_by_dots` can compute the product and is the faster way, which depends
/// on the product's sizes and strides alone. Its factor is deep and lies column by column.
bool prefers_dots(const Product& product);
/// Computes the elements of a range, each of which is the dot product of two runs of memory: it is
/// summed lane by lane, and then over the lanes. Nothing is packed.
void multiply_by_dots(const Product& product, const ProductRange& range);

/// Returns whether `multiply_stationary` can compute the product and is the faster way, which
/// depends on the product's sizes and strides alone. Its factor lies row by row, and no
/// second-level cache keeps the factor.
bool prefers_stationary(const Product& product);
/// Computes the elements of a range, each as a sum in the order of depth: some rows of a panel of
/// the factor stay in registers while the sums of all rows pass by. The workspace is
/// a StationaryWorkspace.
void multiply_stationary(const Product& product, const ProductRange& range, float* workspace);

/// Returns whether `multiply_turned` can compute the product and is the faster way, which depends
/// on the product's sizes and strides alone. Its factor lies column by column.
bool prefers_turned(const Product& product);
/// Computes the elements of a range, each as a sum in the order of depth, of the product turned
/// around: Vectors run over the rows, which are packed. The workspace has `turned_floats`.
void multiply_turned(const Product& product, const ProductRange& range, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
