// PoolKernels: pooling of planes, batch-major, a part of KernelTable. Declarations only, as sources
// of every instruction set include this.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/pooling.hpp"

namespace penstock::graph {

struct PoolKernels {
  /// The maximum of each window, the first of equal ones; a NaN counts as the largest. `winners`
  /// says which window position it came from: kh · kernel width + kw.
  void (*maximum)(const Pooling&, const float* x, float* y, float* winners);
  /// Adds each dy to the pixel that won.
  void (*maximum_gradient)(const Pooling&, const float* winners, const float* dy, float* dx);
  /// The mean of each window, in which padding counts as zeros.
  void (*average)(const Pooling&, const float* x, float* y);
  /// Adds each dy, divided by the window's cells, to every pixel that the window saw.
  void (*average_gradient)(const Pooling&, const float* dy, float* dx);
  /// x [planes,pixels] -> y [planes]
  void (*global_average)(std::int64_t planes, std::int64_t pixels, const float* x, float* y);
  void (*global_average_gradient)(std::int64_t planes, std::int64_t pixels, const float* dy,
                                  float* dx);
};

}  // namespace penstock::graph
