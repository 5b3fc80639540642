#include "graph/ops/activations/tanh.hpp"

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"

namespace penstock::graph {
namespace {

void backward(GradientContext& context) {
  context.set(0, context.emit(tanh_gradient, {context.output(0), context.gradient(0)}));
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .low = -2, .high = 2}};
}

}  // namespace

const Op tanh{.name = "tanh",
              .onnx = "Tanh",
              .infer = infer_unary,
              .forward = forward_unary<&ActivationKernels::tanh>,
              .backward = backward,
              .cost = streaming_cost<20>,
              .units = element_units,
              .overwrites = {{0, 0}},
              .lane_use = follow_lanes,
              .samples = samples};

const Op tanh_gradient{.name = "tanh_gradient",
                       .infer = infer_unary_gradient,
                       .forward = forward_unary_gradient<&ActivationKernels::tanh_gradient>,
                       .cost = streaming_cost<3>,
                       .units = element_units,
                       .overwrites = {{1, 0}, {0, 0}}};

}  // namespace penstock::graph
