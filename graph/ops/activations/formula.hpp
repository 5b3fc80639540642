// Activations whose kernels are formulas with constants (graph/kernels/elementwise/activations.hpp)
// share the functions in this header, which call these kernels.
#pragma once

#include "graph/ops/rules/elementwise.hpp"

namespace penstock::graph {

/// A ConstantsOf returns the constants that a node's attributes ask for.
using ConstantsOf = ActivationConstants (*)(const Attributes&);

inline ActivationConstants no_constants(const Attributes&) {
  return {};
}

/// Serves as Op::forward of an op that applies a formula to each element.
/// forward_formula_gradient() serves as Op::forward of the op's gradient, which maps (x, dy) to dx.
template <FormulaKernels ActivationKernels::*formula, ConstantsOf constants = no_constants>
void forward_formula(const KernelCall& call) {
  map_elements(call, [&](std::int64_t count, const float* x, float* y) {
    (kernel_table().activations.*formula).function(count, constants(call.attributes), x, y);
  });
}
template <FormulaKernels ActivationKernels::*formula, ConstantsOf constants = no_constants>
void forward_formula_gradient(const KernelCall& call) {
  map_gradients(call, [&](std::int64_t count, const float* x, const float* dy, float* dx) {
    (kernel_table().activations.*formula).gradient(count, constants(call.attributes), x, dy, dx);
  });
}

}  // namespace penstock::graph
