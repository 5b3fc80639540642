#include "graph/ops/activations/unary.hpp"

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"

namespace penstock::graph {
namespace {

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

const Op relu = elementwise({.name = "relu",
                             .onnx = "Relu",
                             .forward = forward_unary<&ActivationKernels::relu>,
                             .backward = backward_by_output<relu_gradient>,
                             .cost = streaming_cost<1>,
                             .samples = samples<1>,
                             .is_relu = true});
const Op relu_gradient =
    elementwise_gradient({.name = "relu_gradient",
                          .forward = forward_unary_gradient<&ActivationKernels::relu_gradient>,
                          .cost = streaming_cost<1>});

const Op gelu = elementwise({.name = "gelu",
                             .onnx = "Gelu",
                             .forward = forward_unary<&ActivationKernels::gelu>,
                             .backward = backward_by_input<gelu_gradient>,
                             .cost = streaming_cost<20>,
                             .samples = samples<3>});
const Op gelu_gradient =
    elementwise_gradient({.name = "gelu_gradient",
                          .forward = forward_unary_gradient<&ActivationKernels::gelu_gradient>,
                          .cost = streaming_cost<35>});

const Op sigmoid = elementwise({.name = "sigmoid",
                                .onnx = "Sigmoid",
                                .forward = forward_unary<&ActivationKernels::sigmoid>,
                                .backward = backward_by_output<sigmoid_gradient>,
                                .cost = streaming_cost<12>,
                                .samples = samples<4>});
const Op sigmoid_gradient =
    elementwise_gradient({.name = "sigmoid_gradient",
                          .forward = forward_unary_gradient<&ActivationKernels::sigmoid_gradient>,
                          .cost = streaming_cost<3>});

const Op silu = elementwise({.name = "silu",
                             .forward = forward_unary<&ActivationKernels::silu>,
                             .backward = backward_by_input<silu_gradient>,
                             .cost = streaming_cost<13>,
                             .samples = silu_samples});
const Op silu_gradient =
    elementwise_gradient({.name = "silu_gradient",
                          .forward = forward_unary_gradient<&ActivationKernels::silu_gradient>,
                          .cost = streaming_cost<17>});

const Op tanh = elementwise({.name = "tanh",
                             .onnx = "Tanh",
                             .forward = forward_unary<&ActivationKernels::tanh>,
                             .backward = backward_by_output<tanh_gradient>,
                             .cost = streaming_cost<20>,
                             .samples = samples<2>});
const Op tanh_gradient =
    elementwise_gradient({.name = "tanh_gradient",
                          .forward = forward_unary_gradient<&ActivationKernels::tanh_gradient>,
                          .cost = streaming_cost<3>});

ValueId gradient_before_relu(GradientContext& context) {
  const ValueId dy = context.gradient(0);
  if (!attribute::relu.of(context.attributes())) return dy;
  return context.emit(relu_gradient, {context.output(0), dy});
}

}  // namespace penstock::graph
