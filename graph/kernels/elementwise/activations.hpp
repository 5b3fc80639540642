// ActivationKernels: functions of single elements, a part of KernelTable. Declarations only, as
// sources of every instruction set include this.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// y and dx may be any of the operands before them.
struct ActivationKernels {
  using Function = void (*)(std::int64_t count, const float* x, float* y);
  /// `from` is x or y, whichever the derivative is taken from.
  using Gradient = void (*)(std::int64_t count, const float* from, const float* dy, float* dx);

  Function relu;           ///< 0 below 0; a NaN stays
  Gradient relu_gradient;  ///< from x or y; where these are NaN, dy
  Function gelu;           ///< x·Φ(x)
  Gradient gelu_gradient;  ///< from x
  Function silu;           ///< x/(1 + exp(-x))
  Gradient silu_gradient;  ///< from x
  Function sigmoid;
  Gradient sigmoid_gradient;  ///< from y
  Function tanh;
  Gradient tanh_gradient;  ///< from y

  /// slope·x below 0.
  void (*leaky_relu)(std::int64_t count, float slope, const float* x, float* y);
  /// slope·dy where `from` is not above 0.
  void (*leaky_relu_gradient)(std::int64_t count, float slope, const float* from, const float* dy,
                              float* dx);
  /// x·scale where the mask has a bit, 0 elsewhere; bit i%64 of mask[i/64] belongs to element i.
  void (*dropout)(std::int64_t count, const std::int64_t* mask, float scale, const float* x,
                  float* y);
};

}  // namespace penstock::graph
