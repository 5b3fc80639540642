// ActivationKernels compute activation functions and dropout, element by element. They are a part
// of KernelTable. This header has declarations only, because sources of every instruction set
// include it.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// The result of a function, `y` or `dx`, may be written over any of its operands.
struct ActivationKernels {
  using Function = void (*)(std::int64_t count, const float* x, float* y);
  /// Computes the gradient `dx` of the input from the gradient `dy` of the output. `from` is the
  /// input x or the output y of the function, as each gradient says.
  using Gradient = void (*)(std::int64_t count, const float* from, const float* dy, float* dx);

  Function relu;           ///< Computes max(x, 0), and keeps a NaN.
  Gradient relu_gradient;  ///< Here `from` may be x or y. Where `from` is NaN, dx is dy.
  Function gelu;           ///< Computes x·Φ(x).
  Gradient gelu_gradient;  ///< Here `from` has to be x.
  Function silu;           ///< Computes x/(1 + exp(-x)).
  Gradient silu_gradient;  ///< Here `from` has to be x.
  Function sigmoid;
  Gradient sigmoid_gradient;  ///< Here `from` has to be y.
  Function tanh;
  Gradient tanh_gradient;  ///< Here `from` has to be y.

  /// Computes y = slope·x where x is below 0, and y = x elsewhere.
  void (*leaky_relu)(std::int64_t count, float slope, const float* x, float* y);
  /// Computes `dx`, which is dy where `from` is above 0, and slope·dy elsewhere. `from` may be x or
  /// y.
  void (*leaky_relu_gradient)(std::int64_t count, float slope, const float* from, const float* dy,
                              float* dx);
  /// Computes y = x·scale where the element's bit in `mask` is 1, and y = 0 elsewhere. The bit of
  /// element i is bit i%64 of mask[i/64].
  void (*dropout)(std::int64_t count, const std::int64_t* mask, float scale, const float* x,
                  float* y);
};

}  // namespace penstock::graph
