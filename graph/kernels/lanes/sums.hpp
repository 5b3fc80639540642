// These kernels sum over lanes, and over planes in the batch-lane layout. The build compiles them
// once per instruction set.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Computes sums [count] from lanes [count,16]. Lane i is added to lane i+8, then the first eight
/// lanes are summed in the same way, and so on: the order is the same for every element and
/// instruction set.
void sum_lanes(std::int64_t count, const float* lanes, float* sums);

/// Computes the gradient of a bias, as LaneKernels::channel_sums says.
void channel_sums(const LanePlanes& planes, Part part, const float* x, float* sums);

}  // namespace penstock::graph::PENSTOCK_ISA
