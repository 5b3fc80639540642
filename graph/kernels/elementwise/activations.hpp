// ActivationKernels are functions of single elements, a part of KernelTable. This header has
// declarations only, because sources of every instruction set include it.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// In every function, y and dx may have the memory of any of the operands before them.
struct ActivationKernels {
  using Function = void (*)(std::int64_t count, const float* x, float* y);
  /// Computes dx from dy and `from`, which is x or y.
  using Gradient = void (*)(std::int64_t count, const float* from, const float* dy, float* dx);

  Function relu;           ///< Computes max(x, 0), and keeps a NaN.
  Gradient relu_gradient;  ///< Needs x or y as `from`; where `from` is NaN, dx is dy.
  Function gelu;           ///< Computes x·Φ(x).
  Gradient gelu_gradient;  ///< Needs x as `from`.
  Function silu;           ///< Computes x/(1 + exp(-x)).
  Gradient silu_gradient;  ///< Needs x as `from`.
  Function sigmoid;
  Gradient sigmoid_gradient;  ///< Needs y as `from`.
  Function tanh;
  Gradient tanh_gradient;  ///< Needs y as `from`.

  /// Computes slope·x below 0, and x elsewhere.
  void (*leaky_relu)(std::int64_t count, float slope, const float* x, float* y);
  /// Computes slope·dy where `from`, which is x or y, is not above 0, and dy elsewhere.
  void (*leaky_relu_gradient)(std::int64_t count, float slope, const float* from, const float* dy,
                              float* dx);
  /// Computes x·scale where the mask's bit is 1, and 0 elsewhere. Bit i%64 of mask[i/64] belongs to
  /// element i.
  void (*dropout)(std::int64_t count, const std::int64_t* mask, float scale, const float* x,
                  float* y);
};

}  // namespace penstock::graph
