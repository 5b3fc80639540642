// Products of few rows with a factor that lies column by column, turned around: Vectors run over
// the rows, which are packed, and the columns are read where they lie, once, each along its own run
// of memory. Compiled once per instruction set.
#pragma once

#include "graph/kernels/products/product_kernels.hpp"
#include "graph/kernels/products/units.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Whether `multiply_turned` can compute the product and is the faster way; depends on its sizes
/// and strides alone.
bool prefers_turned(const Product& product);

/// The elements of a range, each summed in the order of depth. Workspace: `turned_floats`.
void multiply_turned(const Product& product, const ProductRange& range, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
