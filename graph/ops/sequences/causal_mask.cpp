#include "graph/ops/sequences/causal_mask.hpp"

#include <algorithm>
#include <limits>

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  infer_unary(attributes, in);
  expect_rank_from(in[0], 2, "x");
  expect(in[0].shape[-1] == in[0].shape[-2],
         "expected the last two dimensions of x to be the same, got " + to_string(in[0].shape));
  return {in[0]};
}

/// Copies input 0 to output 0, with `value` above the diagonal of each matrix.
void mask(const KernelCall& call, float value) {
  copy(call.inputs[0], call.outputs[0]);
  const auto out = call.outputs[0].f32();
  const auto size = static_cast<std::size_t>(call.outputs[0].shape()[-1]);
  for (std::size_t begin = 0, row = 0; begin < out.size(); begin += size, ++row)
    for (std::size_t column = row % size + 1; column < size; ++column) out[begin + column] = value;
}

void forward(const KernelCall& call) {
  mask(call, -std::numeric_limits<float>::infinity());
}

void backward(GradientContext& context) {
  context.set(0, context.emit(causal_mask_gradient, {context.gradient(0)}));
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {2, 3, 5, 5}}}}};
}

void forward_gradient(const KernelCall& call) {
  mask(call, 0);
}

}  // namespace

const Op causal_mask{.name = "causal_mask",
                     .infer = infer,
                     .forward = forward,
                     .backward = backward,
                     .cost = streaming_cost<0>,
                     .overwrites = {{0, 0}},
                     .samples = samples};

const Op causal_mask_gradient{.name = "causal_mask_gradient",
                              .infer = infer,
                              .forward = forward_gradient,
                              .cost = streaming_cost<0>,
                              .overwrites = {{0, 0}}};

}  // namespace penstock::graph
