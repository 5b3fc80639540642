// These kernels are the max pooling with lanes and its gradient. The build compiles them once per
// instruction set.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph::PENSTOCK_ISA {

void pool_maximum(const Pooling& pool, const float* x, float* y, std::uint8_t* winners);
void pool_maximum_gradient(const Pooling& pool, const std::uint8_t* winners, const float* dy,
                           float* dx);

}  // namespace penstock::graph::PENSTOCK_ISA
