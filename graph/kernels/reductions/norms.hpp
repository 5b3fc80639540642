// NormKernels are the parts of batch, group and layer norm that work on neighbouring elements. They
// are a part of KernelTable. This header has declarations only, because sources of every
// instruction set include it.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Moments are the mean and the inverse standard deviation of the elements that are normalised
/// together.
struct Moments {
  float mean = 0;
  float inverse_std = 1;  ///< This is 1/sqrt(variance + eps).
};

/// GradientSums are sum(dy) and sum(dy·x̂), where x̂ = (x - mean)·inverse_std. Summed over all
/// elements that share a shift and a scale, they are the gradients of this shift and this scale.
struct GradientSums {
  double dy = 0;
  double dy_x = 0;
};

/// Each function works on `count` neighbouring elements. Functions with `scale` or `shift` take one
/// number for all these elements; functions with `weight` or `bias` take one number for each. A
/// result may be written over an operand of the same length.
struct NormKernels {
  /// Returns sum((x - mean)²).
  double (*squared_deviations)(std::int64_t count, float mean, const float* x);
  /// Computes y = (x - mean)·inverse_std·scale + shift.
  void (*normalise)(std::int64_t count, const Moments&, float scale, float shift, const float* x,
                    float* y);
  /// Computes y = (x - mean)·inverse_std·weight + bias; `bias` may be null.
  void (*normalise_each)(std::int64_t count, const Moments&, const float* weight, const float* bias,
                         const float* x, float* y);

  GradientSums (*gradient_sums)(std::int64_t count, const Moments&, const float* dy,
                                const float* x);
  /// Returns the sums with dy·weight in place of dy.
  GradientSums (*gradient_sums_each)(std::int64_t count, const Moments&, const float* weight,
                                     const float* dy, const float* x);
  /// Computes dx = inverse_std·(dy·scale - means.dy - x̂·means.dy_x). `means` are the sums of
  /// gradient_sums() with dy·scale in place of dy, divided by the number of elements that share the
  /// moments.
  void (*input_gradient)(std::int64_t count, const Moments&, float scale, const GradientSums& means,
                         const float* dy, const float* x, float* dx);
  void (*input_gradient_each)(std::int64_t count, const Moments&, const float* weight,
                              const GradientSums& means, const float* dy, const float* x,
                              float* dx);
  /// Adds dy·x̂ to dweight and dy to dbias, element by element.
  void (*add_weight_gradient)(std::int64_t count, const Moments&, const float* dy, const float* x,
                              double* dweight, double* dbias);
};

}  // namespace penstock::graph
