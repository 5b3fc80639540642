#include "graph/ops/arithmetic/prod.hpp"

#include <algorithm>

#include "graph/ops/arithmetic/reduced_axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

std::int64_t workspace(const Attributes&, Types, Types out) {
  return out[0].shape.elements() * double_bytes;
}

void forward(const KernelCall& call) {
  const Operand& out = call.outputs[0];
  double* const products = doubles(call.workspace);
  std::fill_n(products, out.elements(), 1.0);
  const float* const x = call.inputs[0].f32().data();
  walk_over_axes(call).for_each_element(
      [&](std::int64_t i, std::int64_t j) { products[j] *= static_cast<double>(x[i]); });
  kernel_table().reductions.round(out.elements(), products, out.f32().data());
}

void backward(GradientContext& context) {
  context.set(0, context.emit(prod_gradient, {context.input(0), context.gradient(0)},
                              context.attributes()));
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, dy");
  expect_dtype(in[1], DType::f32, "dy");
  expect_shape(in[1], infer_reduced(attributes, in.first(1))[0].shape, "dy");
  return {in[0]};
}

/// The workspace of the gradient has, for each product, the product of the elements that are not 0,
/// and the number of the elements that are.
std::int64_t workspace_of_gradient(const Attributes&, Types in, Types) {
  return 2 * in[1].shape.elements() * double_bytes;
}

void forward_gradient(const KernelCall& call) {
  const float *x = call.inputs[0].f32().data(), *dy = call.inputs[1].f32().data();
  float* const dx = call.outputs[0].f32().data();
  const std::int64_t count = call.inputs[1].elements();
  double *const products = doubles(call.workspace), *const zeros = products + count;
  std::fill_n(products, count, 1.0);
  std::fill_n(zeros, count, 0.0);
  const ReductionWalk walk = walk_over_axes(call);
  walk.for_each_element([&](std::int64_t i, std::int64_t j) {
    (x[i] == 0 ? zeros[j] += 1 : products[j] *= static_cast<double>(x[i]));
  });
  walk.for_each_element([&](std::int64_t i, std::int64_t j) {
    const auto element = static_cast<double>(x[i]);
    const double others_that_are_zero = zeros[j] - (element == 0 ? 1 : 0);
    const double others = element == 0 ? products[j] : products[j] / element;
    dx[i] =
        static_cast<float>(others_that_are_zero > 0 ? 0.0 : others * static_cast<double>(dy[j]));
  });
}

}  // namespace

const Op prod = reduction({.name = "prod",
                           .onnx = "ReduceProd",
                           .infer = infer_reduced,
                           .forward = forward,
                           .backward = backward,
                           .workspace = workspace});

const Op prod_gradient{.name = "prod_gradient",
                       .attributes = {attribute::axes, attribute::keep},
                       .infer = infer_gradient,
                       .forward = forward_gradient,
                       .cost = streaming_cost<4>,
                       .workspace = workspace_of_gradient};

}  // namespace penstock::graph
