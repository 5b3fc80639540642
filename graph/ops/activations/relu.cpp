#include "graph/ops/activations/relu.hpp"

#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes&, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  return {in[0]};
}

void backward(GradientContext& context) {
  context.set(0, context.emit(relu_gradient, {context.output(0), context.gradient(0)}));
}

Cost cost(const Attributes&, Types in, Types) {
  return {.flops = static_cast<double>(in[0].shape.elements()),
          .bytes = 2.0 * static_cast<double>(in[0].bytes())};
}

std::vector<OpSample> samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}}};
}

std::vector<TensorType> infer_gradient(const Attributes&, Types in) {
  expect_inputs(in, 2, "y, dy");
  expect_shape(in[1], in[0].shape, "dy");
  return {in[0]};
}

Cost cost_gradient(const Attributes&, Types in, Types) {
  return {.flops = static_cast<double>(in[0].shape.elements()),
          .bytes = 3.0 * static_cast<double>(in[0].bytes())};
}

}  // namespace

const Op relu{.name = "relu",
              .onnx = "Relu",
              .infer = infer,
              .forward = forward_unary<&ActivationKernels::relu>,
              .backward = backward,
              .cost = cost,
              .units = element_units,
              .overwrites = {{0, 0}},
              .lane_use = follow_lanes,
              .samples = samples,
              .is_relu = true};

const Op relu_gradient{.name = "relu_gradient",
                       .infer = infer_gradient,
                       .forward = forward_unary_gradient<&ActivationKernels::relu_gradient>,
                       .cost = cost_gradient,
                       .units = element_units,
                       .overwrites = {{1, 0}, {0, 0}}};

ValueId gradient_before_relu(GradientContext& context) {
  const ValueId dy = context.gradient(0);
  if (!attribute::relu.of(context.attributes())) return dy;
  return context.emit(relu_gradient, {context.output(0), dy});
}

}  // namespace penstock::graph
