// These kernels sum the gradients of a bias in lanes. The build compiles them once per instruction
// set.
#pragma once

#include "graph/kernels/lanes/lane_kernels.hpp"

namespace penstock::graph::PENSTOCK_ISA {

void channel_sums(const LanePlanes& planes, Part part, const float* x, float* sums);

}  // namespace penstock::graph::PENSTOCK_ISA
