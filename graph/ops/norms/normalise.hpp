// Group, layer and batch norm share these around their kernels: the moments of a run of elements,
// and the arithmetic of gradient sums.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/kernels/reductions/norms.hpp"

namespace penstock::graph {

/// Returns the moments number i of those that a forward pass has stored.
Moments stored_moments(const Operand& mean, const Operand& inverse_std, std::int64_t i);

/// Computes the moments in two passes: the variance is the mean square of what is left when the
/// mean has been subtracted.
Moments moments_of(std::int64_t count, const float* x, double eps);

inline void add_to(GradientSums& sums, const GradientSums& other, double factor = 1) {
  sums.dy += other.dy * factor;
  sums.dy_x += other.dy_x * factor;
}
inline GradientSums scaled(const GradientSums& sums, double factor) {
  return {sums.dy * factor, sums.dy_x * factor};
}

}  // namespace penstock::graph
