// Functions of two tensors, element by element, with broadcasting.
#pragma once

#include "graph/kernels/eigen.hpp"
#include "graph/kernels/strided.hpp"

namespace penstock::graph::kernels {

/// Writes f(a, b) to output 0. `f` takes Eigen arrays, or an array and a float.
template <class F>
void broadcast(const KernelCall& call, F f) {
  using Row = Eigen::Map<Eigen::ArrayXf>;
  const Operand &a = call.inputs[0], &b = call.inputs[1], &out = call.outputs[0];
  const StridedWalk<3> walk(out.shape(),
                            {dense_strides(out.shape()), broadcast_strides(a.shape(), out.shape()),
                             broadcast_strides(b.shape(), out.shape())});
  float *to = out.f32().data(), *from_a = a.f32().data(), *from_b = b.f32().data();
  const auto [step, step_a, step_b] = walk.steps();
  const Eigen::Index n = walk.length();
  walk.for_each_row([&, one_a = step_a == 0, one_b = step_b == 0](const auto& at) {
    Row row(to + at[0], n);
    const Row row_a(from_a + at[1], one_a ? 1 : n), row_b(from_b + at[2], one_b ? 1 : n);
    if (one_a && one_b)
      row.setConstant(f(row_a, row_b[0])[0]);
    else if (one_a)
      row = f(row_a[0], row_b);
    else if (one_b)
      row = f(row_a, row_b[0]);
    else
      row = f(row_a, row_b);
  });
}

}  // namespace penstock::graph::kernels
