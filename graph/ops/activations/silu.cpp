#include "graph/ops/activations/silu.hpp"

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"

namespace penstock::graph {
namespace {

void backward(GradientContext& context) {
  context.set(0, context.emit(silu_gradient, {context.input(0), context.gradient(0)}));
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .low = -4, .high = 4},
          {.inputs = {{DType::f32, {700}}}}};
}

}  // namespace

const Op silu{.name = "silu",
              .infer = infer_unary,
              .forward = forward_unary<&ActivationKernels::silu>,
              .backward = backward,
              .cost = streaming_cost<13>,
              .units = element_units,
              .overwrites = {{0, 0}},
              .lane_use = follow_lanes,
              .samples = samples};

const Op silu_gradient{.name = "silu_gradient",
                       .infer = infer_unary_gradient,
                       .forward = forward_unary_gradient<&ActivationKernels::silu_gradient>,
                       .cost = streaming_cost<17>,
                       .units = element_units,
                       .overwrites = {{1, 0}, {0, 0}}};

}  // namespace penstock::graph
