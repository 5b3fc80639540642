// This measures the floating-point peak of the machine's cores, of which figures are a percentage.
#pragma once

#include "graph/kernels/isa.hpp"

namespace penstock::benchmarks {

/// Returns the GFLOP/s of so many threads at once, where a fused multiply-add counts as two. Each
/// thread counts with the best of many short runs.
double fma_peak(graph::Isa isa, int threads = 1);

/// Returns the GFLOP/s of this thread, as the median of short runs that take some milliseconds.
double fma_peak_now(graph::Isa isa);

}  // namespace penstock::benchmarks
