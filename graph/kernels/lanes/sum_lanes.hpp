// This kernel sums over the lanes. The build compiles it once per instruction set.
#pragma once

#include <cstdint>

namespace penstock::graph::PENSTOCK_ISA {

/// Computes sums [count] from lanes [count,16]. Lane i is added to lane i+8, then the first eight
/// lanes are summed in the same way, and so on: the order is the same for every element and
/// instruction set.
void sum_lanes(std::int64_t count, const float* lanes, float* sums);

}  // namespace penstock::graph::PENSTOCK_ISA
