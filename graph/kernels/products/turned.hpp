// These are products of few rows with a factor that lies column by column, turned around: Vectors
// run over the rows, which are packed, and the columns are read where they lie, once, each along
// its own run of memory. The build compiles them once per instruction set.
#pragma once

#include "graph/kernels/products/product_kernels.hpp"
#include "graph/kernels/products/units.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Returns whether `multiply_turned` can compute the product and is the faster way, which depends
/// on the product's sizes and strides alone.
bool prefers_turned(const Product& product);

/// Computes the elements of a range, each as a sum in the order of depth. The workspace has
/// `turned_floats`.
void multiply_turned(const Product& product, const ProductRange& range, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
