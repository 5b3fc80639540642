// These kernels convert between batch-major tensors and lanes. The build compiles them once per
// instruction set.
#pragma once

#include <cstdint>

namespace penstock::graph::PENSTOCK_ISA {

void to_lanes(std::int64_t samples, std::int64_t length, const float* x, float* lanes);
void from_lanes(std::int64_t samples, std::int64_t length, const float* lanes, float* x);

}  // namespace penstock::graph::PENSTOCK_ISA
