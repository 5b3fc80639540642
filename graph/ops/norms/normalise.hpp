// Group, layer, RMS and batch norm share the declarations in this header: the moments of
// neighbouring elements, and the arithmetic of gradient sums.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/kernels/reductions/norms.hpp"

namespace penstock::graph {

/// Checks that `weight` is f32 and has the shape of the last axes of `x`, and returns the shape of
/// the axes before these. @throws Error shape_mismatch if it has another shape.
Shape expect_last_axes(const TensorType& x, const TensorType& weight);

/// Returns moments that a forward has stored: those with the number `i` in `mean` and
/// `inverse_std`.
Moments stored_moments(const Operand& mean, const Operand& inverse_std, std::int64_t i);

/// Returns the moments of the `count` elements from `x` on. The moments are computed in two passes:
/// the first pass finds the mean, and the second pass finds the variance as the mean of (x -
/// mean)².
Moments moments_of(std::int64_t count, const float* x, double eps);

inline void add_to(GradientSums& sums, const GradientSums& other, double factor = 1) {
  sums.dy += other.dy * factor;
  sums.dy_x += other.dy_x * factor;
}
inline GradientSums scaled(const GradientSums& sums, double factor) {
  return {sums.dy * factor, sums.dy_x * factor};
}

}  // namespace penstock::graph
