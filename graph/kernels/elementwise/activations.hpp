// ActivationKernels compute activation functions and dropout, element by element. They are a part
// of KernelTable. This header has declarations only, because sources of every instruction set
// include it.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// ActivationConstants are the constants of all formulas. A formula reads only the constants that
/// it uses.
struct ActivationConstants {
  float alpha = 1, scale = 1, input_scale = 1;  ///< These are the constants of `elu`.
  float beta = 1;                               ///< `softplus` multiplies x by this number.
  float threshold = 0;       ///< Above this number, `softplus` and `threshold` leave x alone.
  float value = 0;           ///< This is the result of `threshold` up to the threshold.
  float low = -1, high = 1;  ///< These are the bounds of `hardtanh`.
  float bound = 0.5f;  ///< `softshrink` and `hardshrink` make 0 of what is not beyond ±bound.
};

/// FormulaKernels compute a function and its gradient. The result may be written over any operand.
struct FormulaKernels {
  void (*function)(std::int64_t count, const ActivationConstants&, const float* x, float* y);
  void (*gradient)(std::int64_t count, const ActivationConstants&, const float* x, const float* dy,
                   float* dx);
};

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
  /// Returns the sum of x·dy over those elements where x is not above 0.
  double (*slope_gradient)(std::int64_t count, const float* x, const float* dy);

  // These functions are named after their formulas in activation_formulas.hpp.
  FormulaKernels elu;
  FormulaKernels gelu_tanh;
  FormulaKernels hardshrink;
  FormulaKernels hardsigmoid;
  FormulaKernels hardswish;
  FormulaKernels hardtanh;
  FormulaKernels logsigmoid;
  FormulaKernels mish;
  FormulaKernels softplus;
  FormulaKernels softshrink;
  FormulaKernels softsign;
  FormulaKernels threshold;

  /// Computes y = x·scale where the element's bit in `mask` is 1, and y = 0 elsewhere. The bit of
  /// element i is bit i%64 of mask[i/64].
  void (*dropout)(std::int64_t count, const std::int64_t* mask, float scale, const float* x,
                  float* y);
  /// Computes y = x·scale + shift where the element's bit in `mask` is 1, and y = dropped
  /// elsewhere.
  void (*alpha_dropout)(std::int64_t count, const std::int64_t* mask, float scale, float shift,
                        float dropped, const float* x, float* y);
};

}  // namespace penstock::graph
