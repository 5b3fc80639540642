#include "graph/ops/activations/leaky_relu.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute negative_slope{"negative_slope", 0.01};

}  // namespace attribute
namespace {

float slope(const Attributes& attributes) {
  return static_cast<float>(attribute::negative_slope.of(attributes));
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  check_f32("negative_slope", attribute::negative_slope.of(attributes), any_number);
  return infer_unary(attributes, in);
}

void forward(const KernelCall& call) {
  map_elements(call, [&](std::int64_t count, const float* x, float* y) {
    kernel_table().activations.leaky_relu(count, slope(call.attributes), x, y);
  });
}

void backward(GradientContext& context) {
  // The gradient needs the sign of x. Unless the slope is negative, y has the same sign as x, and y
  // needs to be kept for a shorter time.
  const bool same_sign = slope(context.attributes()) >= 0;
  const ValueId sign = same_sign ? context.output(0) : context.input(0);
  context.set(0, context.emit(leaky_relu_gradient, {sign, context.gradient(0)},
                              {{"negative_slope", double{slope(context.attributes())}}}));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {3, 7}};
  return {{.inputs = {x}, .attributes = {{"negative_slope", 0.1}}, .low = 0.1},
          {.inputs = {x}, .attributes = {{"negative_slope", 0.1}}, .high = -0.1},
          {.inputs = {x}, .attributes = {{"negative_slope", -0.5}}, .high = -0.1}};
}

void forward_gradient(const KernelCall& call) {
  map_gradients(call, [&](std::int64_t count, const float* from, const float* dy, float* dx) {
    kernel_table().activations.leaky_relu_gradient(count, slope(call.attributes), from, dy, dx);
  });
}

}  // namespace

const Op leaky_relu = elementwise({.name = "leaky_relu",
                                   .onnx = "LeakyRelu",
                                   .attributes = {attribute::negative_slope},
                                   .infer = infer,
                                   .forward = forward,
                                   .backward = backward,
                                   .cost = streaming_cost<2>,
                                   .samples = samples});

const Op leaky_relu_gradient = elementwise_gradient({.name = "leaky_relu_gradient",
                                                     .attributes = {attribute::negative_slope},
                                                     .forward = forward_gradient,
                                                     .cost = streaming_cost<2>});

}  // namespace penstock::graph
