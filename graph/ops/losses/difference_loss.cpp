#include "graph/ops/losses/difference_loss.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/arithmetic/scale.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/reduction.hpp"

namespace penstock::graph {
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, target");
  expect_dtype(in[0], DType::f32, "x");
  expect_dtype(in[1], DType::f32, "target");
  expect_shape(in[1], in[0].shape, "target");
  return {loss_type(attributes, in[0].shape)};
}

template <DifferenceKernels LossKernels::*kernels>
void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &target = call.inputs[1], &loss = call.outputs[0];
  const DifferenceKernels& difference = kernel_table().losses.*kernels;
  const LossForm form = loss_form(call.attributes);
  float* const out = loss.f32().data();
  if (form == LossForm::each)
    difference.terms(x.elements(), x.f32().data(), target.f32().data(), out);
  else
    *out = mean_or_sum(form, difference.sum(x.elements(), x.f32().data(), target.f32().data()),
                       x.elements());
}

template <const Op& gradient>
void backward(GradientContext& context) {
  const ValueId dx = context.emit(
      gradient, {context.input(0), context.input(1), context.gradient(0)}, context.attributes());
  context.set(0, dx);
  if (context.needs(1)) context.set(1, context.emit(scale, {dx}, {{"factor", -1.0}}));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {4, 7}};
  return {{.inputs = {x, x}},
          {.inputs = {x, x}, .attributes = {{"reduction", "sum"}}},
          {.inputs = {x, x}, .attributes = {{"reduction", "none"}}}};
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "x, target, dloss");
  expect_loss_gradient(attributes, in[2], in[0].shape);
  return {in[0]};
}

template <DifferenceKernels LossKernels::*kernels>
void forward_gradient(const KernelCall& call) {
  const Operand &x = call.inputs[0], &target = call.inputs[1], &dx = call.outputs[0];
  const TermGradients gradients(call.attributes, call.inputs[2], x.elements());
  (kernel_table().losses.*kernels)
      .gradient(x.elements(), x.f32().data(), target.f32().data(), gradients.row(),
                dx.f32().data());
}

}  // namespace

const Op mse_loss{.name = "mse_loss",
                  .infer = infer,
                  .forward = forward<&LossKernels::squared>,
                  .backward = backward<mse_loss_gradient>,
                  .cost = streaming_cost<3>,
                  .samples = samples};

const Op mse_loss_gradient{.name = "mse_loss_gradient",
                           .infer = infer_gradient,
                           .forward = forward_gradient<&LossKernels::squared>,
                           .cost = streaming_cost<3>,
                           .overwrites = {{0, 0}, {1, 0}}};

const Op l1_loss{.name = "l1_loss",
                 .infer = infer,
                 .forward = forward<&LossKernels::absolute>,
                 .backward = backward<l1_loss_gradient>,
                 .cost = streaming_cost<3>,
                 .samples = samples};

const Op l1_loss_gradient{.name = "l1_loss_gradient",
                          .infer = infer_gradient,
                          .forward = forward_gradient<&LossKernels::absolute>,
                          .cost = streaming_cost<3>,
                          .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
