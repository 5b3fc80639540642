// ReductionKernels compute sums and extrema of neighbouring elements. They are a part of
// KernelTable. This header has declarations only, because sources of every instruction set include
// it.
#pragma once

#include <cstdint>

#include "graph/values/part.hpp"

namespace penstock::graph {

/// The sizes alone fix the order in which each function adds.
struct ReductionKernels {
  using Extremum = float (*)(std::int64_t count, const float* x);

  Extremum largest;   ///< Returns the largest of one or more numbers, or NaN if one of them is NaN.
  Extremum smallest;  ///< Returns the smallest of one or more numbers, or NaN if one is NaN.
  double (*sum)(std::int64_t count, const float* x);
  /// Adds x[i] to sums[i].
  void (*add_to)(std::int64_t count, const float* x, double* sums);
  void (*round)(std::int64_t count, const double* x, float* y);
  /// Computes `sums` [channels] of `x` [samples,channels,inner] for those channels that are in the
  /// Part.
  void (*channel_sums)(std::int64_t samples, std::int64_t channels, std::int64_t inner, Part part,
                       const float* x, float* sums);
};

}  // namespace penstock::graph
