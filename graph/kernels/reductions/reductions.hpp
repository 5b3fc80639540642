// ReductionKernels are sums of neighbouring elements, a part of KernelTable. This header has
// declarations only, because sources of every instruction set include it.
#pragma once

#include <cstdint>

#include "graph/values/part.hpp"

namespace penstock::graph {

/// Holds kernels that compute sums. The order of every sum is fixed by sizes alone.
struct ReductionKernels {
  double (*sum)(std::int64_t count, const float* x);
  /// Adds x[i] to sums[i].
  void (*add_to)(std::int64_t count, const float* x, double* sums);
  void (*round)(std::int64_t count, const double* x, float* y);
  /// Computes sums [channels] of x [samples,channels,inner] for a part of the channels.
  void (*channel_sums)(std::int64_t samples, std::int64_t channels, std::int64_t inner, Part part,
                       const float* x, float* sums);
};

}  // namespace penstock::graph
