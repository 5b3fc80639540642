#include "graph/ops/losses/clipped_log.hpp"

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute low{"low", 1e-7};
constexpr RealAttribute high{"high", 1 - 1e-7};

}  // namespace attribute
namespace {

float low(const Attributes& attributes) {
  return static_cast<float>(attribute::low.of(attributes));
}
float high(const Attributes& attributes) {
  return static_cast<float>(attribute::high.of(attributes));
}

void forward(const KernelCall& call) {
  kernel_table().losses.clipped_logarithm(call.outputs[0].elements(), low(call.attributes),
                                          high(call.attributes), call.inputs[0].f32().data(),
                                          call.outputs[0].f32().data());
}

void backward(GradientContext& context) {
  context.set(0, context.emit(clipped_log_gradient, {context.input(0), context.gradient(0)},
                              context.attributes()));
}

void forward_gradient(const KernelCall& call) {
  kernel_table().losses.clipped_logarithm_gradient(
      call.outputs[0].elements(), low(call.attributes), high(call.attributes),
      call.inputs[0].f32().data(), call.inputs[1].f32().data(), call.outputs[0].f32().data());
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {4, 7}};
  return {{.inputs = {x}, .low = 0.1, .high = 0.9},
          {.inputs = {x}, .attributes = {{"low", 0.32}, {"high", 0.8}}, .low = 0.1, .high = 1}};
}

}  // namespace

const Op clipped_log{.name = "clipped_log",
                     .attributes = {attribute::low, attribute::high},
                     .infer = infer_unary,
                     .forward = forward,
                     .backward = backward,
                     .cost = streaming_cost<25>,
                     .overwrites = {{0, 0}},
                     .samples = samples};

const Op clipped_log_gradient{.name = "clipped_log_gradient",
                              .attributes = {attribute::low, attribute::high},
                              .infer = infer_unary_gradient,
                              .forward = forward_gradient,
                              .cost = streaming_cost<3>,
                              .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
