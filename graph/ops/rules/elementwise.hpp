// Ops that compute a function of one tensor, element by element, share the declarations in this
// header: their shape rules, and the functions that call their kernels.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"
#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {

/// Maps x, which may have any shape, to an output of the same type.
std::vector<TensorType> infer_unary(const Attributes&, Types inputs);
/// Maps (x or y, dy), which have the same type, to dx.
std::vector<TensorType> infer_unary_gradient(const Attributes&, Types inputs);

/// Returns `op`, which maps each element of x to one of y, with the fields that such ops have in
/// common. The op works in every layout.
Op elementwise(Op op);
/// Returns `op`, the gradient of such an op, with the fields that such gradients have in common.
/// The gradient maps (x or y, dy) to dx.
Op elementwise_gradient(Op op);

/// Calls `kernel(count, x, y)` for the elements of the call's part. The op's Op::units is
/// element_units().
void map_elements(const KernelCall& call, const auto& kernel) {
  const Operand &x = call.inputs[0], &y = call.outputs[0];
  const auto [first, count] = ElementRange(call, x.elements());
  kernel(count, x.f32().data() + first, y.f32().data() + first);
}
/// Calls `kernel(count, from, dy, dx)`, where `from` is x or y, for the elements of the part.
void map_gradients(const KernelCall& call, const auto& kernel) {
  const Operand &from = call.inputs[0], &dy = call.inputs[1], &dx = call.outputs[0];
  const auto [first, count] = ElementRange(call, dx.elements());
  kernel(count, from.f32().data() + first, dy.f32().data() + first, dx.f32().data() + first);
}

/// Serves as Op::backward of an op whose gradient needs x, and has the attributes of the op.
template <const Op& gradient>
void backward_by_input(GradientContext& context) {
  context.set(
      0, context.emit(gradient, {context.input(0), context.gradient(0)}, context.attributes()));
}
/// Serves as Op::backward of an op whose gradient needs y, which is kept for a shorter time than x.
template <const Op& gradient>
void backward_by_output(GradientContext& context) {
  context.set(
      0, context.emit(gradient, {context.output(0), context.gradient(0)}, context.attributes()));
}

/// Serves as Op::forward of an op that applies `kernel` to each element. forward_unary_gradient()
/// serves as Op::forward of the op's gradient.
template <ActivationKernels::Function ActivationKernels::*kernel>
void forward_unary(const KernelCall& call) {
  map_elements(call, kernel_table().activations.*kernel);
}
template <ActivationKernels::Gradient ActivationKernels::*kernel>
void forward_unary_gradient(const KernelCall& call) {
  map_gradients(call, kernel_table().activations.*kernel);
}

/// Copies all bytes of `from` to `to`, for ops such as reshape that change no element. Copies
/// nothing if the memory plan has put both operands into the same memory.
void copy(const Operand& from, const Operand& to);
/// Serves as Op::forward of an op whose output 0 has the elements of input 0 in the same order.
void forward_copy(const KernelCall& call);

/// Serves as Op::lane_use of an op that computes the same in every layout, as those do that work
/// element by element. Its output has the layout of its input.
LaneUse follow_lanes(const Attributes&, Types inputs);

}  // namespace penstock::graph
