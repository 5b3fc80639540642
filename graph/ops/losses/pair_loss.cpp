#include "graph/ops/losses/pair_loss.hpp"

#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

std::vector<TensorType> infer_pair_loss(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, target");
  expect_dtype(in[0], DType::f32, "x");
  expect_dtype(in[1], DType::f32, "target");
  expect_shape(in[1], in[0].shape, "target");
  expect_elements(in[0], "x");
  return {loss_type(attributes, in[0].shape)};
}

std::vector<TensorType> infer_pair_loss_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "x, target, dloss");
  expect_loss_gradient(attributes, in[2], in[0].shape);
  return {in[0]};
}

void run_pair_loss(const PairLoss& loss, const KernelCall& call) {
  const Operand &x = call.inputs[0], &target = call.inputs[1];
  const LossForm form = loss_form(call.attributes);
  float* const out = call.outputs[0].f32().data();
  if (form == LossForm::each)
    loss.kernels.terms(x.elements(), loss.constants, x.f32().data(), target.f32().data(), out);
  else
    *out = mean_or_sum(
        form, loss.kernels.sum(x.elements(), loss.constants, x.f32().data(), target.f32().data()),
        x.elements());
}

void run_pair_loss_gradient(const PairLoss& loss, const KernelCall& call) {
  const Operand &x = call.inputs[0], &target = call.inputs[1], &dx = call.outputs[0];
  const TermGradients gradients(call.attributes, call.inputs[2], x.elements());
  loss.kernels.gradient(x.elements(), loss.constants, x.f32().data(), target.f32().data(),
                        gradients.row(), dx.f32().data());
}

void run_pair_loss_target_gradient(const PairLoss& loss, const KernelCall& call) {
  const Operand &x = call.inputs[0], &target = call.inputs[1], &dtarget = call.outputs[0];
  const TermGradients gradients(call.attributes, call.inputs[2], x.elements());
  loss.kernels.target_gradient(x.elements(), loss.constants, x.f32().data(), target.f32().data(),
                               gradients.row(), dtarget.f32().data());
}

void emit_pair_loss_gradient(GradientContext& context, std::size_t i, const Op& gradient) {
  if (context.needs(i))
    context.set(i, context.emit(gradient, {context.input(0), context.input(1), context.gradient(0)},
                                context.attributes()));
}

void backward_difference_loss(GradientContext& context, const Op& gradient) {
  const ValueId dx = context.emit(
      gradient, {context.input(0), context.input(1), context.gradient(0)}, context.attributes());
  context.set(0, dx);
  if (context.needs(1)) context.set(1, context.emit(scale, {dx}, {{"factor", -1.0}}));
}

std::vector<OpSample> pair_loss_samples(const Attributes& attributes, double low, double high) {
  const TensorType x{DType::f32, {4, 7}};
  std::vector<OpSample> samples;
  for (const char* reduction : {"mean", "sum", "none"}) {
    Attributes reduced = attributes;
    reduced.set("reduction", reduction);
    samples.push_back({.inputs = {x, x}, .attributes = reduced, .low = low, .high = high});
  }
  return samples;
}

}  // namespace penstock::graph
