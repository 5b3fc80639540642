// How fast cores read main memory, measured: what bounds kernels that compute little per byte.
#pragma once

namespace penstock::benchmarks {

/// GB/s of so many threads at once, each reading memory of its own, far larger than any cache; of
/// each thread the best of several passes.
double memory_bandwidth(int threads = 1);

}  // namespace penstock::benchmarks
