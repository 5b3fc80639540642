// RecurrentKernels compute one step of a recurrent layer for one sample. They are a part of
// KernelTable. This header has declarations only, because sources of every instruction set include
// it.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// An LstmStep has the gates i, f, g and o side by side, `width` elements of each: in `from_input`
/// and `from_hidden` the two parts of their sums, and in `gates` the gates themselves, which may be
/// written over `from_input`. `cell` [width] is read and then overwritten.
struct LstmStep {
  std::int64_t width;
  const float *from_input, *from_hidden;
  float *gates, *cell, *hidden;
};

/// An LstmStepGradient has the `gates`, the `old_cell` from before the step and the `cell` behind
/// it. `dy` is the gradient of the step's output; `dhidden` and `dcell` are those of the states
/// behind the step, which are replaced by those of the states before it. The part of the old hidden
/// state's gradient that comes from the gates is missing: `dhidden` is 0. `dsums` are the gradients
/// of the sums whose functions the gates are.
struct LstmStepGradient {
  std::int64_t width;
  const float *gates, *old_cell, *cell, *dy;
  float *dhidden, *dcell, *dsums;
};

/// A GruStep has the gates r, z and n side by side, as an LstmStep has its gates. `candidate`
/// [width] is where the part of n that comes from the hidden state is kept. `hidden` is read and
/// then overwritten.
struct GruStep {
  std::int64_t width;
  const float *from_input, *from_hidden;
  float *gates, *candidate, *hidden;
};

/// A GruStepGradient has the `gates`, the `candidate` and the hidden state before the step,
/// `old_hidden`. `dhidden` is the gradient of the hidden state behind the step, which is replaced
/// by that of the state before it, without the part that comes from the gates. `dinput` and
/// `dsums` are the gradients of the parts of the sums that come from the input and from the hidden
/// state.
struct GruStepGradient {
  std::int64_t width;
  const float *gates, *candidate, *old_hidden, *dy;
  float *dhidden, *dinput, *dsums;
};

struct RecurrentKernels {
  /// Computes c = f·c + i·g and h = o·tanh(c).
  void (*lstm)(const LstmStep&);
  void (*lstm_gradient)(const LstmStepGradient&);
  /// Computes h = n + z·(h - n), where n is the hyperbolic tangent of the part that comes from the
  /// input and r times the part that comes from the hidden state.
  void (*gru)(const GruStep&);
  void (*gru_gradient)(const GruStepGradient&);
  /// Computes h = tanh(a + b) or h = max(a + b, 0) for `width` elements.
  void (*tanh)(std::int64_t width, const float* a, const float* b, float* hidden);
  void (*relu)(std::int64_t width, const float* a, const float* b, float* hidden);
  /// Computes the gradient `dsums` of the sums from `hidden`, `dy` and `dhidden`, which becomes 0.
  void (*tanh_gradient)(std::int64_t width, const float* hidden, const float* dy, float* dhidden,
                        float* dsums);
  void (*relu_gradient)(std::int64_t width, const float* hidden, const float* dy, float* dhidden,
                        float* dsums);
};

}  // namespace penstock::graph
