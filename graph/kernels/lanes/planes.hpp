// These kernels convert tensors to the batch-lane layout and back, and compute max poolings in this
// layout. LaneKernels says what their arguments are. The build compiles them once per instruction
// set.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph::PENSTOCK_ISA {

void to_lanes(std::int64_t samples, std::int64_t length, const float* x, float* lanes);
void from_lanes(std::int64_t samples, std::int64_t length, const float* lanes, float* x);

void pool_maximum(const Pooling& pool, const float* x, float* y, std::uint8_t* winners);
void pool_maximum_gradient(const Pooling& pool, const std::uint8_t* winners, const float* dy,
                           float* dx);

}  // namespace penstock::graph::PENSTOCK_ISA
