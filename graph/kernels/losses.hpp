// LossKernels: losses that compare element by element, a part of KernelTable. Declarations only, as
// sources of every instruction set include this.
#pragma once

#include <cstdint>

#include "graph/kernels/row_operand.hpp"

namespace penstock::graph {

/// A loss whose terms are a function of x - target.
struct DifferenceKernels {
  void (*terms)(std::int64_t count, const float* x, const float* target, float* y);
  double (*sum)(std::int64_t count, const float* x, const float* target);
  /// dx = slope·dloss; dx may be x or target.
  void (*gradient)(std::int64_t count, const float* x, const float* target, RowOperand dloss,
                   float* dx);
};

struct LossKernels {
  DifferenceKernels squared;   ///< (x - target)²
  DifferenceKernels absolute;  ///< |x - target|, of slope 0 at 0
};

}  // namespace penstock::graph
