// These kernels compute several products with the same right factor, which is packed only once. The
// build compiles them once per instruction set.
#pragma once

#include "graph/kernels/products/product_kernels.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Both do what ProductKernels says. The packed factor has one block after the other, each of
/// `depth_block` steps of depth or of those that are left, and a block has its panels one after the
/// other.
void pack_factor(std::int64_t columns, std::int64_t depth, const ConstMatrix& right, float* packed);
void multiply_packed(const PackedProduct& product, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
