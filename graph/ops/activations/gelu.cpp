#include "graph/ops/activations/gelu.hpp"

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"

namespace penstock::graph {
namespace {

void backward(GradientContext& context) {
  context.set(0, context.emit(gelu_gradient, {context.input(0), context.gradient(0)}));
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .low = -3, .high = 3}};
}

}  // namespace

const Op gelu{.name = "gelu",
              .onnx = "Gelu",
              .infer = infer_unary,
              .forward = forward_unary<&ActivationKernels::gelu>,
              .backward = backward,
              .cost = streaming_cost<20>,
              .units = element_units,
              .overwrites = {{0, 0}},
              .lane_use = follow_lanes,
              .samples = samples};

const Op gelu_gradient{.name = "gelu_gradient",
                       .infer = infer_unary_gradient,
                       .forward = forward_unary_gradient<&ActivationKernels::gelu_gradient>,
                       .cost = streaming_cost<35>,
                       .units = element_units,
                       .overwrites = {{1, 0}, {0, 0}}};

}  // namespace penstock::graph
