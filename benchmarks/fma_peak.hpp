// The floating-point peak of the machine's cores, measured: what figures are a percentage of.
#pragma once

#include "graph/kernels/isa.hpp"

namespace penstock::benchmarks {

/// GFLOP/s of so many threads at once, a fused multiply-add counting as two; of each thread the
/// best of many short runs.
double fma_peak(graph::Isa isa, int threads = 1);

/// The same within some 50 us, at the clock that the core has just then.
double fma_burst(graph::Isa isa);

}  // namespace penstock::benchmarks
