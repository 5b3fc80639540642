// These kernels compute the matrix product. Three of them compute products of few rows without
// packing the right factor: they read it once, where it lies, and each of its columns or rows is
// one run of memory. The build compiles the kernels once per instruction set.
#pragma once

#include "graph/kernels/products/product_kernels.hpp"
#include "graph/kernels/products/units.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Computes a part of a product in the fastest of these ways, as ProductKernels says.
void multiply(const Product& product, Part part, float* workspace);

/// Returns whether multiply_by_dots() can compute the product and is the faster way. The answer
/// depends on the product's sizes and strides alone: the right factor has to be deep and to lie
/// column by column.
bool prefers_dots(const Product& product);
/// Computes the elements of a range. Each is the dot product of two runs of memory, which is summed
/// lane by lane, and then over the lanes. Nothing is packed.
void multiply_by_dots(const Product& product, const ProductRange& range);

/// Returns whether multiply_stationary() can compute the product and is the faster way. The answer
/// depends on the product's sizes and strides alone: the right factor has to lie row by row and to
/// be too large for a second-level cache.
bool prefers_stationary(const Product& product);
/// Computes the elements of a range, each as a sum in the order of depth. Some steps of a panel of
/// the right factor stay in registers while their products are added to the sums of all rows. The
/// workspace is a StationaryWorkspace.
void multiply_stationary(const Product& product, const ProductRange& range, float* workspace);

/// Returns whether multiply_turned() can compute the product and is the faster way. The answer
/// depends on the product's sizes and strides alone: the right factor has to lie column by column.
bool prefers_turned(const Product& product);
/// Computes the elements of a range, each as a sum in the order of depth. The product is
/// transposed: Vectors run over the rows of the left factor, which are packed. The workspace has
/// turned_floats() floats.
void multiply_turned(const Product& product, const ProductRange& range, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
