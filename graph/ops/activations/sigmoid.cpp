#include "graph/ops/activations/sigmoid.hpp"

#include "graph/kernels/eigen.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"

namespace penstock::graph {
namespace {

void forward(const KernelCall& call) {
  array(call.outputs[0]) = 1.0f / (1.0f + (-array(call.inputs[0])).exp());
}

void backward(GradientContext& context) {
  context.set(0, context.emit(sigmoid_gradient, {context.output(0), context.gradient(0)}));
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .low = -4, .high = 4}};
}

void forward_gradient(const KernelCall& call) {
  const auto y = array(call.inputs[0]), dy = array(call.inputs[1]);
  array(call.outputs[0]) = dy * y * (1.0f - y);
}

}  // namespace

const Op sigmoid{.name = "sigmoid",
                 .onnx = "Sigmoid",
                 .infer = infer_unary,
                 .forward = forward,
                 .backward = backward,
                 .cost = streaming_cost<12>,
                 .overwrites = {{0, 0}},
                 .lane_form = []() -> const Op& { return sigmoid; },
                 .lane_use = follow_lanes,
                 .samples = samples};

const Op sigmoid_gradient{.name = "sigmoid_gradient",
                          .infer = infer_unary_gradient,
                          .forward = forward_gradient,
                          .cost = streaming_cost<3>,
                          .overwrites = {{1, 0}, {0, 0}}};

}  // namespace penstock::graph
