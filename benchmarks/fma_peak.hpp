// The floating-point peak of one core, measured: what kernels' figures are a percentage of.
#pragma once

#include <string>

#include "graph/kernels/isa.hpp"

namespace penstock::benchmarks {

/// GFLOP/s, a fused multiply-add counting as two; the best of many short runs.
double fma_peak(graph::Isa isa);

}  // namespace penstock::benchmarks
