// Functions of one tensor that work element by element: their shape rules, and how their kernels
// are called.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"
#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {

/// x of any shape -> the same type.
std::vector<TensorType> infer_unary(const Attributes&, Types inputs);
/// (x or y, dy), which have the same type -> dx.
std::vector<TensorType> infer_unary_gradient(const Attributes&, Types inputs);

/// Such a function, as an op's `forward`; its units are `element_units`.
template <ActivationKernels::Function ActivationKernels::*kernel>
void forward_unary(const KernelCall& call) {
  const Operand &x = call.inputs[0], &y = call.outputs[0];
  const auto [first, count] = ElementRange(call, x.elements());
  (kernel_table().activations.*kernel)(count, x.f32().data() + first, y.f32().data() + first);
}
template <ActivationKernels::Gradient ActivationKernels::*kernel>
void forward_unary_gradient(const KernelCall& call) {
  const Operand &from = call.inputs[0], &dy = call.inputs[1], &dx = call.outputs[0];
  const auto [first, count] = ElementRange(call, dx.elements());
  (kernel_table().activations.*kernel)(count, from.f32().data() + first, dy.f32().data() + first,
                                       dx.f32().data() + first);
}

/// Such a function is the same in every layout: it stays where its input is.
LaneUse follow_lanes(const Attributes&, Types inputs);

}  // namespace penstock::graph
