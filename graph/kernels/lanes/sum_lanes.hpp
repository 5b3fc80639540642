// Sums over the lanes. Compiled once per instruction set.
#pragma once

#include <cstdint>

namespace penstock::graph::PENSTOCK_ISA {

/// lanes [count,16] -> sums [count]. Lane i is added to lane i+8, then what is in the first eight
/// likewise, and so on: the same order for every element and instruction set.
void sum_lanes(std::int64_t count, const float* lanes, float* sums);

}  // namespace penstock::graph::PENSTOCK_ISA
