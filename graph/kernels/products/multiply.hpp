// This kernel is the matrix product. The build compiles it once per instruction set; see
// ProductKernels.
#pragma once

#include "graph/kernels/products/product_kernels.hpp"

namespace penstock::graph::PENSTOCK_ISA {

void multiply(const Product& product, Part part, float* workspace);

}  // namespace penstock::graph::PENSTOCK_ISA
