// How fast cores read main memory, measured: what bounds kernels that compute little per byte.
#pragma once

#include <cstddef>

namespace penstock::benchmarks {

/// GB/s of so many threads at once, each reading memory of its own, far larger than any cache; of
/// each thread the best of several passes.
double memory_bandwidth(int threads = 1);

/// GB/s of one core that reads the same so many bytes again and again.
double cache_bandwidth(std::size_t bytes);

}  // namespace penstock::benchmarks
