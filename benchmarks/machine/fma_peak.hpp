// This measures the floating-point peak of the machine's cores, of which figures are a percentage.
#pragma once

#include "graph/kernels/isa.hpp"

namespace penstock::benchmarks {

/// GFLOP/s of so many threads at once, a fused multiply-add counting as two; of each thread the
/// best of many short runs.
double fma_peak(graph::Isa isa, int threads = 1);

/// Returns the same for this thread, within some milliseconds: the median of short runs.
double fma_peak_now(graph::Isa isa);

}  // namespace penstock::benchmarks
