// These functions of two tensors work element by element, with broadcasting.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/kernels/elementwise/arithmetic.hpp"
#include "graph/ops/rules/strided.hpp"

namespace penstock::graph {

/// Writes f(a, b) to output 0.
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

}  // namespace penstock::graph
