// These are products of few rows with a factor that lies row by row and that no second-level cache
// keeps. Some rows of a panel of the factor stay in registers while the sums of all rows pass by,
// so that the factor is read where it lies, once, each row along its own run of memory. The build
// compiles them once per instruction set.
#pragma once

#include "graph/kernels/products/product_kernels.hpp"
#include "graph/kernels/products/units.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Returns whether `multiply_stationary` can compute the product and is the faster way, which
/// depends on the product's sizes and strides alone.
bool prefers_stationary(const Product& product);

/// Computes the elements of a range, each as a sum in the order of depth. The workspace is
/// a StationaryWorkspace.
void multiply_stationary(const Product& product, const ProductRange& range, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
