// Group, layer, RMS and batch norm share the declarations in this header: the moments of
// neighbouring elements, and the arithmetic of gradient sums.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/kernels/reductions/norms.hpp"

namespace penstock::graph {

/// Checks that `weight` is f32 and has the shape of the last axes of `x`, and returns the shape of
/// the axes before these. @throws Error shape_mismatch if `weight` has another type or shape.
Shape expect_last_axes(const TensorType& x, const TensorType& weight);

/// Returns moments that a forward has stored: those with the number `i` in `mean` and
/// `inverse_std`.
Moments stored_moments(const Operand& mean, const Operand& inverse_std, std::int64_t i);

/// Returns the moments of the `count` elements from `x` on. The moments are computed in two passes:
/// the first pass finds the mean, and the second pass finds the variance as the mean of (x -
/// mean)².
Moments moments_of(std::int64_t count, const float* x, double eps);

/// Serves as Op::units where a unit is a row, and output 1 has an element for each row.
std::int64_t forward_row_units(const Attributes&, Types, Types out);
/// Serves as Op::units of a gradient of x where a unit is a row, and input 2 has an element for
/// each row.
std::int64_t gradient_row_units(const Attributes&, Types in, Types);

/// A WeightSums says where the sums for dweight (`scales`) and dbias (`shifts`) begin in a
/// workspace, and where the last ones end (`end`), counted in doubles.
struct WeightSums {
  std::int64_t scales, shifts, end;

  /// Makes a WeightSums with room for `count` elements of dweight and of dbias.
  explicit WeightSums(std::int64_t count) : scales(0), shifts(count), end(2 * count) {}
};
/// Serves as Op::workspace of an op that calls sum_weight_gradient() and has dweight as output 0.
std::int64_t weight_gradient_workspace(const Attributes&, Types, Types out);
/// Sums the gradients of the weight and of the bias over the rows of dy and x, inputs 0 and 1, for
/// the `count` elements from `first` on of `length`, to the workspace of the call. Input 2 has an
/// element for each row, and `moments_of_row` maps the number of a row to its moments.
void sum_weight_gradient(const KernelCall& call, std::int64_t length, std::int64_t first,
                         std::int64_t count,
                         Moments (*moments_of_row)(const KernelCall&, std::int64_t row));

inline void add_to(GradientSums& sums, const GradientSums& other, double factor = 1) {
  sums.dy += other.dy * factor;
  sums.dy_x += other.dy_x * factor;
}
inline GradientSums scaled(const GradientSums& sums, double factor) {
  return {sums.dy * factor, sums.dy_x * factor};
}

}  // namespace penstock::graph
