#include "graph/kernels/products/product_kernels.hpp"

#include "graph/kernels/products/convolve.hpp"
#include "graph/kernels/products/multiply.hpp"
#include "graph/kernels/products/pack.hpp"
#include "graph/kernels/products/packed.hpp"

namespace penstock::graph::PENSTOCK_ISA {

extern const ProductKernels product_kernels;
const ProductKernels product_kernels{.multiply = multiply,
                                     .pack_factor = pack_factor,
                                     .multiply_packed = multiply_packed,
                                     .pack_panels = pack_panels,
                                     .convolve = convolve,
                                     .convolve_weight_gradient = convolve_weight_gradient};

}  // namespace penstock::graph::PENSTOCK_ISA
