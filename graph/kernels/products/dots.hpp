// These are products of few rows with a deep factor that lies column by column. Each element is the
// dot product of two runs of memory, so nothing is packed and the right factor is read once. The
// build compiles them once per instruction set.
#pragma once

#include "graph/kernels/products/product_kernels.hpp"
#include "graph/kernels/products/units.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Returns whether `multiply_by_dots` can compute the product and is the faster way, which depends
/// on the product's sizes and strides alone.
bool prefers_dots(const Product& product);

/// Computes the elements of a range. Each is summed lane by lane, and then over the lanes.
void multiply_by_dots(const Product& product, const ProductRange& range);

}  // namespace penstock::graph::PENSTOCK_ISA
