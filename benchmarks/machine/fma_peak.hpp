// These functions measure the floating-point peak of the machine's cores. The benchmarks give
// speeds as a percentage of this peak.
#pragma once

#include "graph/kernels/isa.hpp"

namespace penstock::benchmarks {

/// Returns the GFLOP/s of `threads` threads together, which run at the same time. A fused
/// multiply-add counts as two operations. The best of many short runs counts for each thread.
double fma_peak(graph::Isa isa, int threads = 1);

/// Returns the GFLOP/s of this thread with the instructions of `isa`: the median of many short
/// runs, which together take some milliseconds.
double fma_peak_now(graph::Isa isa);

}  // namespace penstock::benchmarks
