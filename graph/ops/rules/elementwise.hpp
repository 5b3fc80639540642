// Functions of one tensor that work element by element share these: their shape rules, and the way
// in which their kernels are called.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"
#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {

/// Maps x, of any shape, to the same type.
std::vector<TensorType> infer_unary(const Attributes&, Types inputs);
/// Maps (x or y, dy), which have the same type, to dx.
std::vector<TensorType> infer_unary_gradient(const Attributes&, Types inputs);

/// Serves as the `forward` of such a function; its units are `element_units`.
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

/// Copies all bytes, for ops that only say something else about the same elements. There is nothing
/// to do if the memory plan gave both the same memory.
void copy(const Operand& from, const Operand& to);

/// Says that such a function is the same in every layout and stays in that of its input.
LaneUse follow_lanes(const Attributes&, Types inputs);

}  // namespace penstock::graph
