#include "graph/ops/losses/difference_loss.hpp"

#include "graph/kernels/eigen.hpp"
#include "graph/kernels/sums.hpp"
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

template <class Terms>
void write(const KernelCall& call, const Terms& terms) {
  const LossForm form = loss_form(call.attributes);
  auto loss = array(call.outputs[0]);
  if (form == LossForm::each) {
    loss = terms;
    return;
  }
  const double divisor = form == LossForm::mean ? static_cast<double>(terms.size()) : 1.0;
  loss[0] = static_cast<float>(kernels::long_sum(terms) / divisor);
}

void forward_mse(const KernelCall& call) {
  write(call, (array(call.inputs[0]) - array(call.inputs[1])).square());
}

void forward_l1(const KernelCall& call) {
  write(call, (array(call.inputs[0]) - array(call.inputs[1])).abs());
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

/// dx = slopes·dloss.
template <class Slopes>
void write_gradient(const KernelCall& call, const Slopes& slopes) {
  auto dx = array(call.outputs[0]);
  if (loss_form(call.attributes) == LossForm::each)
    dx = slopes * array(call.inputs[2]);
  else
    dx = slopes * TermGradients(call.attributes, call.inputs[2], slopes.size())[0];
}

void forward_mse_gradient(const KernelCall& call) {
  write_gradient(call, 2.0f * (array(call.inputs[0]) - array(call.inputs[1])));
}

void forward_l1_gradient(const KernelCall& call) {
  write_gradient(call, (array(call.inputs[0]) - array(call.inputs[1])).sign());
}

}  // namespace

const Op mse_loss{.name = "mse_loss",
                  .infer = infer,
                  .forward = forward_mse,
                  .backward = backward<mse_loss_gradient>,
                  .cost = streaming_cost<3>,
                  .samples = samples};

const Op mse_loss_gradient{.name = "mse_loss_gradient",
                           .infer = infer_gradient,
                           .forward = forward_mse_gradient,
                           .cost = streaming_cost<3>,
                           .overwrites = {{0, 0}, {1, 0}}};

const Op l1_loss{.name = "l1_loss",
                 .infer = infer,
                 .forward = forward_l1,
                 .backward = backward<l1_loss_gradient>,
                 .cost = streaming_cost<3>,
                 .samples = samples};

const Op l1_loss_gradient{.name = "l1_loss_gradient",
                          .infer = infer_gradient,
                          .forward = forward_l1_gradient,
                          .cost = streaming_cost<3>,
                          .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
