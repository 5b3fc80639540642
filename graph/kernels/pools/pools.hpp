// PoolKernels compute poolings, and their gradients, of tensors [planes,height,width]. They are a
// part of KernelTable. This header has declarations only, because sources of every instruction set
// include it.
#pragma once

#include <cstdint>

#include "graph/kernels/vectors/operands.hpp"

namespace penstock::graph {

struct PoolKernels {
  /// Computes the maximum of each window. The first of equal pixels wins, and a NaN wins over every
  /// number. `winners` says at which position of the window the maximum was: kh · kernel width +
  /// kw.
  void (*maximum)(const Pooling&, const float* x, float* y, float* winners);
  /// Computes `dx`: each element of `dy` is added to the pixel that won in its window.
  void (*maximum_gradient)(const Pooling&, const float* winners, const float* dy, float* dx);
  /// Computes the mean of each window. Padding counts as zeros, or not at all, and what is beyond
  /// the padding never counts.
  void (*average)(const Pooling&, const float* x, float* y);
  /// Computes `dx`: each element of `dy`, divided by the number of positions that the average
  /// counts, is added to every pixel of its window.
  void (*average_gradient)(const Pooling&, const float* dy, float* dx);
  /// Computes `y` [planes], the means over the pixels of `x` [planes,pixels].
  void (*global_average)(std::int64_t planes, std::int64_t pixels, const float* x, float* y);
  void (*global_average_gradient)(std::int64_t planes, std::int64_t pixels, const float* dy,
                                  float* dx);
};

}  // namespace penstock::graph
