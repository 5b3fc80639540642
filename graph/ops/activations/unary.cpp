#include "graph/ops/activations/unary.hpp"

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"

namespace penstock::graph {
namespace {

/// Returns `op`, an activation, with the fields that all activations of this file have in common.
Op activation(Op op) {
  op.infer = infer_unary;
  op.units = element_units;
  op.overwrites = {{0, 0}};
  op.lane_use = follow_lanes;
  return op;
}

/// Returns `op`, the gradient of an activation, with the fields that all such gradients have in
/// common. The gradient maps (x, dy) or (y, dy) to dx.
Op activation_gradient(Op op) {
  op.infer = infer_unary_gradient;
  op.units = element_units;
  op.overwrites = {{1, 0}, {0, 0}};
  return op;
}

/// Serves as Op::backward of activations whose gradient needs x.
template <const Op& gradient>
void backward_by_input(GradientContext& context) {
  context.set(0, context.emit(gradient, {context.input(0), context.gradient(0)}));
}

/// Serves as Op::backward of activations whose gradient needs y, which is kept for a shorter time
/// than x.
template <const Op& gradient>
void backward_by_output(GradientContext& context) {
  context.set(0, context.emit(gradient, {context.output(0), context.gradient(0)}));
}

/// Returns a sample whose x is drawn from [-bound, bound).
template <int bound>
std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .low = -bound, .high = bound}};
}

std::vector<OpSample> silu_samples() {
  std::vector<OpSample> all = samples<4>();
  all.push_back({.inputs = {{DType::f32, {700}}}});
  return all;
}

}  // namespace

const Op relu = activation({.name = "relu",
                            .onnx = "Relu",
                            .forward = forward_unary<&ActivationKernels::relu>,
                            .backward = backward_by_output<relu_gradient>,
                            .cost = streaming_cost<1>,
                            .samples = samples<1>,
                            .is_relu = true});
const Op relu_gradient =
    activation_gradient({.name = "relu_gradient",
                         .forward = forward_unary_gradient<&ActivationKernels::relu_gradient>,
                         .cost = streaming_cost<1>});

const Op gelu = activation({.name = "gelu",
                            .onnx = "Gelu",
                            .forward = forward_unary<&ActivationKernels::gelu>,
                            .backward = backward_by_input<gelu_gradient>,
                            .cost = streaming_cost<20>,
                            .samples = samples<3>});
const Op gelu_gradient =
    activation_gradient({.name = "gelu_gradient",
                         .forward = forward_unary_gradient<&ActivationKernels::gelu_gradient>,
                         .cost = streaming_cost<35>});

const Op sigmoid = activation({.name = "sigmoid",
                               .onnx = "Sigmoid",
                               .forward = forward_unary<&ActivationKernels::sigmoid>,
                               .backward = backward_by_output<sigmoid_gradient>,
                               .cost = streaming_cost<12>,
                               .samples = samples<4>});
const Op sigmoid_gradient =
    activation_gradient({.name = "sigmoid_gradient",
                         .forward = forward_unary_gradient<&ActivationKernels::sigmoid_gradient>,
                         .cost = streaming_cost<3>});

const Op silu = activation({.name = "silu",
                            .forward = forward_unary<&ActivationKernels::silu>,
                            .backward = backward_by_input<silu_gradient>,
                            .cost = streaming_cost<13>,
                            .samples = silu_samples});
const Op silu_gradient =
    activation_gradient({.name = "silu_gradient",
                         .forward = forward_unary_gradient<&ActivationKernels::silu_gradient>,
                         .cost = streaming_cost<17>});

const Op tanh = activation({.name = "tanh",
                            .onnx = "Tanh",
                            .forward = forward_unary<&ActivationKernels::tanh>,
                            .backward = backward_by_output<tanh_gradient>,
                            .cost = streaming_cost<20>,
                            .samples = samples<2>});
const Op tanh_gradient =
    activation_gradient({.name = "tanh_gradient",
                         .forward = forward_unary_gradient<&ActivationKernels::tanh_gradient>,
                         .cost = streaming_cost<3>});

ValueId gradient_before_relu(GradientContext& context) {
  const ValueId dy = context.gradient(0);
  if (!attribute::relu.of(context.attributes())) return dy;
  return context.emit(relu_gradient, {context.output(0), dy});
}

}  // namespace penstock::graph
