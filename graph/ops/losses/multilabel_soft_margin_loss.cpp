#include "graph/ops/losses/multilabel_soft_margin_loss.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/losses/row_loss.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {
namespace {

constexpr std::string_view compared[] = {"x", "target"};

Shape terms_shape(Types in) {
  return {in[0].shape[0]};
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, target");
  expect_rows(in, compared);
  return {loss_type(attributes, terms_shape(in))};
}

void forward(const KernelCall& call) {
  const Shape& shape = call.inputs[0].shape();
  const float *x = call.inputs[0].f32().data(), *target = call.inputs[1].f32().data();
  const std::span<float> terms = terms_of(call, shape[0]);
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    const double sum = kernel_table().losses.binary_logits.sum(shape[1], {}, x + row * shape[1],
                                                               target + row * shape[1]);
    terms[static_cast<std::size_t>(row)] = mean_or_sum(LossForm::mean, sum, shape[1]);
  }
  reduce_terms(call.attributes, terms, call.outputs[0]);
}

void backward(GradientContext& context) {
  context.set(0, context.emit(multilabel_soft_margin_loss_gradient,
                              {context.input(0), context.input(1), context.gradient(0)},
                              context.attributes()));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {4, 7}};
  std::vector<OpSample> all;
  for (const char* reduction : {"mean", "sum", "none"})
    all.push_back({.inputs = {x, x}, .attributes = {{"reduction", reduction}}, .constants = {1}});
  return all;
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "x, target, dloss");
  expect_loss_gradient(attributes, in[2], terms_shape(in));
  return {in[0]};
}

void forward_gradient(const KernelCall& call) {
  const Shape& shape = call.inputs[0].shape();
  const float *x = call.inputs[0].f32().data(), *target = call.inputs[1].f32().data();
  const TermGradients gradients(call.attributes, call.inputs[2], shape[0]);
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    const float each = gradients[row] / static_cast<float>(shape[1]);
    const std::int64_t at = row * shape[1];
    kernel_table().losses.binary_logits.gradient(shape[1], {}, x + at, target + at, {&each, true},
                                                 call.outputs[0].f32().data() + at);
  }
}

}  // namespace

const Op multilabel_soft_margin_loss{.name = "multilabel_soft_margin_loss",
                                     .attributes = {attribute::reduction},
                                     .infer = infer,
                                     .forward = forward,
                                     .backward = backward,
                                     .cost = streaming_cost<50>,
                                     .workspace = terms_workspace,
                                     .samples = samples,
                                     .is_loss = true};

const Op multilabel_soft_margin_loss_gradient{.name = "multilabel_soft_margin_loss_gradient",
                                              .attributes = {attribute::reduction},
                                              .infer = infer_gradient,
                                              .forward = forward_gradient,
                                              .cost = streaming_cost<20>,
                                              .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
