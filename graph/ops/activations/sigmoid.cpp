#include "graph/ops/activations/sigmoid.hpp"

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"

namespace penstock::graph {
namespace {

void backward(GradientContext& context) {
  context.set(0, context.emit(sigmoid_gradient, {context.output(0), context.gradient(0)}));
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .low = -4, .high = 4}};
}

}  // namespace

const Op sigmoid{.name = "sigmoid",
                 .onnx = "Sigmoid",
                 .infer = infer_unary,
                 .forward = forward_unary<&ActivationKernels::sigmoid>,
                 .backward = backward,
                 .cost = streaming_cost<12>,
                 .units = element_units,
                 .overwrites = {{0, 0}},
                 .lane_use = follow_lanes,
                 .samples = samples};

const Op sigmoid_gradient{.name = "sigmoid_gradient",
                          .infer = infer_unary_gradient,
                          .forward = forward_unary_gradient<&ActivationKernels::sigmoid_gradient>,
                          .cost = streaming_cost<3>,
                          .units = element_units,
                          .overwrites = {{1, 0}, {0, 0}}};

}  // namespace penstock::graph
