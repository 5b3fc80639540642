// Products of few rows with a factor that lies row by row and that no second-level cache keeps:
// some rows of a panel of it stay in registers while the sums of all rows pass by, so that it is
// read in place, once, each row along its own run of memory. Compiled once per instruction set.
#pragma once

#include "graph/kernels/products/product_kernels.hpp"
#include "graph/kernels/products/units.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Whether `multiply_stationary` can compute the product and is the faster way; depends on its
/// sizes and strides alone.
bool prefers_stationary(const Product& product);

/// The elements of a range, each summed in the order of depth. Workspace: `stationary_floats`.
void multiply_stationary(const Product& product, const ProductRange& range, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
