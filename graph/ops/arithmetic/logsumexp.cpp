#include "graph/ops/arithmetic/logsumexp.hpp"

#include <algorithm>
#include <cmath>

#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/reduced_axes.hpp"
#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/rules/cost.hpp"

namespace penstock::graph {
namespace {

/// The workspace has the sums in double, and the sums rounded to f32.
std::int64_t workspace(const Attributes&, Types, Types out) {
  return out[0].shape.elements() * (double_bytes + float_bytes);
}

void forward(const KernelCall& call) {
  const KernelTable& kernels = kernel_table();
  const Operand& out = call.outputs[0];
  const std::int64_t count = out.elements();
  float* const largest = out.f32().data();
  amax.forward(call);
  // As in PyTorch, nothing is subtracted if the largest element is infinite.
  std::replace_if(
      largest, largest + count, [](float x) { return std::isinf(x); }, 0.0f);
  double* const sums = doubles(call.workspace);
  std::fill_n(sums, count, 0.0);
  add_mapped(walk_over_axes(call), sums,
             [&](std::int64_t n, const float* x, std::int64_t i, bool one, float* y) {
               kernels.arithmetic.subtract(n, {x, false}, {largest + i, one}, y);
               kernels.elementary.exp(n, y, y);
             });
  auto* const rounded = reinterpret_cast<float*>(sums + count);
  kernels.reductions.round(count, sums, rounded);
  kernels.elementary.log(count, rounded, rounded);
  kernels.arithmetic.add(count, {rounded, false}, {largest, false}, largest);
}

/// Emits dx = dy·exp(x - y).
void backward(GradientContext& context) {
  const ValueId y = repeated(context, context.output(0));
  const ValueId share = context.emit(exp, {context.emit(sub, {context.input(0), y})});
  context.set(0, context.emit(mul, {share, repeated(context, context.gradient(0))}));
}

}  // namespace

const Op logsumexp = reduction({.name = "logsumexp",
                                .onnx = "ReduceLogSumExp",
                                .infer = infer_reduced_elements,
                                .forward = forward,
                                .backward = backward,
                                .workspace = workspace});

}  // namespace penstock::graph
