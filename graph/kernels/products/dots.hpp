// Products of few rows with a deep factor that lies column by column: each element is the dot
// product of two runs of memory, so nothing is packed and the right factor is read once. Compiled
// once per instruction set.
#pragma once

#include "graph/kernels/products/product_kernels.hpp"
#include "graph/kernels/products/units.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Whether `multiply_by_dots` can compute the product and is the faster way; depends on its sizes
/// and strides alone.
bool prefers_dots(const Product& product);

/// The elements of a range, each summed lane by lane, then over the lanes.
void multiply_by_dots(const Product& product, const ProductRange& range);

}  // namespace penstock::graph::PENSTOCK_ISA
