// These kernels compute matrix products. All but the first compute products of few rows without
// packing the right factor: they read it where it lies, and each of its columns or rows is one run
// of memory. Which kernel computes a product depends on its sizes and strides and on the
// instruction set alone, so that all parts of a product are computed in the same way. The build
// compiles the kernels once per instruction set.
#pragma once

#include "graph/kernels/products/product_kernels.hpp"
#include "graph/kernels/products/units.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Computes a part of a product in the fastest of these ways. ProductKernels says what the
/// arguments are.
void multiply(const Product& product, Part part, float* workspace);

/// Returns whether multiply_row() can compute the product and is the faster way: the product has to
/// have one row and some depth, the left factor has to lie row by row in memory, and the right
/// factor column by column.
bool prefers_row(const Product& product);
/// Computes the elements of a range, a Vector of them at a time. Each is the dot product of two
/// runs of memory: the elements of a Vector each sum every `vector_size`th product and are then
/// summed themselves, and the products of steps that fill no Vector are added last, in order.
void multiply_row(const Product& product, const ProductRange& range);

/// Returns whether multiply_by_dots() can compute the product and is the faster way: the product
/// has to have few rows and much depth, the left factor has to lie row by row in memory, and the
/// right factor column by column.
bool prefers_dots(const Product& product);
/// Computes the elements of a range. Each element is the dot product of two runs of memory: the
/// elements of a Vector each sum every `vector_size`th product, and are then summed themselves.
/// Nothing is packed.
void multiply_by_dots(const Product& product, const ProductRange& range);

/// Returns whether multiply_stationary() can compute the product and is the faster way: the product
/// has to have few rows, and the right factor has to lie row by row in memory and to be too large
/// for a second-level cache.
bool prefers_stationary(const Product& product);
/// Computes the elements of a range, each as a sum in the order of depth. Some steps of depth of
/// one panel of the right factor stay in registers while their products are added to the sums of
/// all rows. The workspace is a StationaryWorkspace.
void multiply_stationary(const Product& product, const ProductRange& range, float* workspace);

/// Returns whether multiply_turned() can compute the product and is the faster way: the rows have
/// to be few and to nearly fill whole Vectors, the left factor has to lie row by row in memory, and
/// the right factor column by column.
bool prefers_turned(const Product& product);
/// Computes the elements of a range, each as a sum in the order of depth. The transposed product is
/// computed, so that each Vector has elements of several rows of one column; the left factor is
/// packed for that. The workspace has turned_floats() floats.
void multiply_turned(const Product& product, const ProductRange& range, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
