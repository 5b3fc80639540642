// Ops of two operands that broadcast, such as sums and comparisons, share these functions.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"
#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/strided.hpp"

namespace penstock::graph {

/// Serves as Op::units. Operands of the same shape are divided by their elements. Operands that are
/// broadcast are one unit, which one thread computes.
inline std::int64_t broadcast_units(const Attributes& attributes, Types in, Types out) {
  return in[0].shape == in[1].shape ? element_units(attributes, in, out) : 1;
}

/// Writes f(a, b) to output 0. The inputs a and b are broadcast.
inline void broadcast(const KernelCall& call, ArithmeticKernels::Binary f) {
  const Operand &a = call.inputs[0], &b = call.inputs[1], &out = call.outputs[0];
  const StridedWalk<3> walk(out.shape(),
                            {dense_strides(out.shape()), broadcast_strides(a.shape(), out.shape()),
                             broadcast_strides(b.shape(), out.shape())});
  float *to = out.f32().data(), *from_a = a.f32().data(), *from_b = b.f32().data();
  const auto [step, step_a, step_b] = walk.steps();
  walk.for_each_row([&, one_a = step_a == 0, one_b = step_b == 0](const auto& at) {
    f(walk.length(), {from_a + at[1], one_a}, {from_b + at[2], one_b}, to + at[0]);
  });
}

/// Serves as Op::forward: writes what `kernel` computes of the two inputs.
template <ArithmeticKernels::Binary ArithmeticKernels::*kernel>
void forward_broadcast(const KernelCall& call) {
  const Operand &a = call.inputs[0], &b = call.inputs[1], &out = call.outputs[0];
  const ArithmeticKernels::Binary f = kernel_table().arithmetic.*kernel;
  if (!(a.shape() == b.shape())) return broadcast(call, f);
  const auto [first, count] = ElementRange(call, out.elements());
  f(count, {a.f32().data() + first, false}, {b.f32().data() + first, false},
    out.f32().data() + first);
}

/// Serves as Op::samples.
inline std::vector<OpSample> broadcast_samples() {
  const auto f32 = [](const Shape& shape) { return TensorType{DType::f32, shape}; };
  return {{.inputs = {f32({4, 5}), f32({4, 5})}},
          {.inputs = {f32({4, 3, 5}), f32({3, 1})}},
          {.inputs = {f32({1, 5}), f32({4, 3, 5})}},
          {.inputs = {f32({4, 1}), f32({1, 5})}},
          {.inputs = {f32({}), f32({3, 4})}}};
}

}  // namespace penstock::graph
