// What group, layer and batch norm share: moments of a run of elements, and the way back through
// y = (x - mean)/std·scale + shift.
#pragma once

#include <Eigen/Core>

#include "graph/op.hpp"

namespace penstock::graph::kernels {

using Run = Eigen::Map<Eigen::ArrayXf>;

/// `length` elements of the operand from `offset` on.
Run run(const Operand& operand, std::int64_t offset, std::int64_t length);

struct Moments {
  float mean = 0;
  float inverse_std = 1;  ///< 1/sqrt(variance + eps)
};

/// Those that a forward pass has stored, the i-th of them.
Moments stored_moments(const Operand& mean, const Operand& inverse_std, std::int64_t i);

/// In two passes: the variance is the mean square of what is left when the mean is taken off.
Moments moments(const Run& x, double eps);

/// y = (x - mean)·inverse_std·scale + shift; y may be x.
void normalise(const Run& x, Run y, const Moments& moments, float scale, float shift);

/// Over the elements that share their moments: sum(dy) and sum(dy·x̂), x̂ the normalised x. They are
/// the gradients of shift and scale, if these are the elements that share them.
struct GradientSums {
  double dy = 0;
  double dy_x = 0;

  GradientSums& operator+=(const GradientSums& other);
  GradientSums operator*(double factor) const { return {dy * factor, dy_x * factor}; }
};
GradientSums gradient_sums(const Run& dy, const Run& x, const Moments& moments);

/// dx = inverse_std·(dy·scale - means.dy - x̂·means.dy_x), where `means` are those sums of dy·scale
/// divided by how many elements share the moments. dx may be dy or x.
void input_gradient(const Run& dy, const Run& x, Run dx, const Moments& moments, float scale,
                    const GradientSums& means);

}  // namespace penstock::graph::kernels
