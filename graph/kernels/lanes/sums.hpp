// These kernels sum over lanes, and over planes, in the batch-lane layout. The build compiles them
// once per instruction set.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph::PENSTOCK_ISA {

/// Computes `sums` [count] from `lanes` [count,16]. The upper eight lanes are added to the lower
/// eight, then the upper four of these sums to the lower four, and so on, in the same order for
/// every element and instruction set.
void sum_lanes(std::int64_t count, const float* lanes, float* sums);

/// Computes the gradient of a bias; LaneKernels says what the arguments are.
void channel_sums(const LanePlanes& planes, Part part, const float* x, float* sums);

}  // namespace penstock::graph::PENSTOCK_ISA
