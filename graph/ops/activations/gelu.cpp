#include "graph/ops/activations/gelu.hpp"

#include <unsupported/Eigen/SpecialFunctions>

#include "graph/kernels/eigen.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"

namespace penstock::graph {
namespace {

constexpr float inverse_sqrt_2 = 0.70710678118654752f;
constexpr float inverse_sqrt_2_pi = 0.39894228040143268f;

void forward(const KernelCall& call) {
  const auto x = array(call.inputs[0]);
  array(call.outputs[0]) = 0.5f * x * (1.0f + (inverse_sqrt_2 * x).erf());
}

void backward(GradientContext& context) {
  context.set(0, context.emit(gelu_gradient, {context.input(0), context.gradient(0)}));
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .low = -3, .high = 3}};
}

void forward_gradient(const KernelCall& call) {
  const auto x = array(call.inputs[0]), dy = array(call.inputs[1]);
  array(call.outputs[0]) = dy * (0.5f * (1.0f + (inverse_sqrt_2 * x).erf()) +
                                 inverse_sqrt_2_pi * x * (-0.5f * x.square()).exp());
}

}  // namespace

const Op gelu{.name = "gelu",
              .onnx = "Gelu",
              .infer = infer_unary,
              .forward = forward,
              .backward = backward,
              .cost = streaming_cost<20>,
              .overwrites = {{0, 0}},
              .lane_form = []() -> const Op& { return gelu; },
              .lane_use = follow_lanes,
              .samples = samples};

const Op gelu_gradient{.name = "gelu_gradient",
                       .infer = infer_unary_gradient,
                       .forward = forward_gradient,
                       .cost = streaming_cost<35>,
                       .overwrites = {{1, 0}, {0, 0}}};

}  // namespace penstock::graph
