// NormKernels: what batch, group and layer norm do with a run of neighbouring elements, a part of
// KernelTable. Declarations only, as sources of every instruction set include this.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Of the elements that are normalised together.
struct Moments {
  float mean = 0;
  float inverse_std = 1;  ///< 1/sqrt(variance + eps)
};

/// sum(dy) and sum(dy·x̂), x̂ the normalised x. They are the gradients of shift and scale, if these
/// are the elements that share them.
struct GradientSums {
  double dy = 0;
  double dy_x = 0;
};

/// Scale and shift are one number for a run; with `weight` or `bias` each element has its own. An
/// output may be an input of the same length.
struct NormKernels {
  /// sum((x - mean)²)
  double (*squared_deviations)(std::int64_t count, float mean, const float* x);
  /// y = (x - mean)·inverse_std·scale + shift
  void (*normalise)(std::int64_t count, const Moments&, float scale, float shift, const float* x,
                    float* y);
  /// y = (x - mean)·inverse_std·weight + bias; `bias` may be null.
  void (*normalise_each)(std::int64_t count, const Moments&, const float* weight, const float* bias,
                         const float* x, float* y);

  GradientSums (*gradient_sums)(std::int64_t count, const Moments&, const float* dy,
                                const float* x);
  /// The same of dy·weight.
  GradientSums (*gradient_sums_each)(std::int64_t count, const Moments&, const float* weight,
                                     const float* dy, const float* x);
  /// dx = inverse_std·(dy·scale - means.dy - x̂·means.dy_x), where `means` are the sums of dy·scale
  /// divided by how many elements share the moments.
  void (*input_gradient)(std::int64_t count, const Moments&, float scale, const GradientSums& means,
                         const float* dy, const float* x, float* dx);
  void (*input_gradient_each)(std::int64_t count, const Moments&, const float* weight,
                              const GradientSums& means, const float* dy, const float* x,
                              float* dx);
  /// dweight += dy·x̂, dbias += dy, element by element.
  void (*add_weight_gradient)(std::int64_t count, const Moments&, const float* dy, const float* x,
                              double* dweight, double* dbias);
};

}  // namespace penstock::graph
