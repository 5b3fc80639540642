// What group, layer and batch norm share around their kernels: moments of a run of elements, and
// arithmetic of gradient sums.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/kernels/reductions/norms.hpp"

namespace penstock::graph {

/// Those that a forward pass has stored, the i-th of them.
Moments stored_moments(const Operand& mean, const Operand& inverse_std, std::int64_t i);

/// In two passes: the variance is the mean square of what is left when the mean is taken off.
Moments moments_of(std::int64_t count, const float* x, double eps);

inline void add_to(GradientSums& sums, const GradientSums& other, double factor = 1) {
  sums.dy += other.dy * factor;
  sums.dy_x += other.dy_x * factor;
}
inline GradientSums scaled(const GradientSums& sums, double factor) {
  return {sums.dy * factor, sums.dy_x * factor};
}

}  // namespace penstock::graph
