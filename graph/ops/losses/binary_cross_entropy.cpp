#include "graph/ops/losses/binary_cross_entropy.hpp"

#include <algorithm>
#include <string>

#include "graph/ops/losses/pair_loss.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/reduction.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

PairLoss binary(const Attributes&) {
  return {kernel_table().losses.binary};
}

PairLoss logits(const Attributes&) {
  return {kernel_table().losses.binary_logits};
}

bool is_probability(float value) {
  return value >= 0 && value <= 1;
}

/// Checks that every element of x is a probability. Outside of 0 to 1, the loss is a NaN or its
/// slope has the wrong sign.
void expect_probabilities(const Operand& x) {
  const auto values = x.f32();
  std::size_t improbable = 0;
  for (const float value : values) improbable += is_probability(value) ? 0 : 1;
  if (improbable == 0) return;
  const auto at = std::find_if_not(values.begin(), values.end(), is_probability) - values.begin();
  const std::int64_t per_sample = x.shape().rank() == 0 ? 1 : x.elements() / x.shape()[0];
  throw Error(Errc::invalid_data,
              "x " + number_text(static_cast<double>(values[static_cast<std::size_t>(at)])) +
                  " at sample " + std::to_string(at / per_sample) +
                  ": expected 0 to 1; binary_cross_entropy_with_logits takes any number");
}

void forward(const KernelCall& call) {
  expect_probabilities(call.inputs[0]);
  forward_pair_loss<binary>(call);
}

std::vector<OpSample> samples() {
  return pair_loss_samples({}, 0.2, 0.8);
}

std::vector<OpSample> logits_samples() {
  return pair_loss_samples({}, -3, 3);
}

void fill_probabilities(const Attributes&, std::span<const Operand> inputs) {
  int number = 0;
  for (float& x : inputs[0].f32()) x = static_cast<float>(number++ % 16 + 1) / 17.0f;
}

constexpr std::string_view row_names[] = {"x", "target"};

std::vector<TensorType> infer_multilabel(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, target");
  expect_rows(in, row_names);
  return {loss_type(attributes, row_terms(in))};
}

void forward_multilabel(const KernelCall& call) {
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

void backward_multilabel(GradientContext& context) {
  context.set(0, context.emit(multilabel_soft_margin_loss_gradient,
                              {context.input(0), context.input(1), context.gradient(0)},
                              context.attributes()));
}

std::vector<OpSample> multilabel_samples() {
  const TensorType x{DType::f32, {4, 7}};
  std::vector<OpSample> all;
  for (const char* reduction : {"mean", "sum", "none"})
    all.push_back({.inputs = {x, x}, .attributes = {{"reduction", reduction}}});
  return all;
}

std::vector<TensorType> infer_multilabel_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "x, target, dloss");
  expect_loss_gradient(attributes, in[2], row_terms(in));
  return {in[0]};
}

void forward_multilabel_gradient(const KernelCall& call) {
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

const Op binary_cross_entropy{
    .name = "binary_cross_entropy",
    .attributes = {attribute::reduction},
    .infer = infer_pair_loss,
    .forward = forward,
    .backward = backward_pair_loss_and_target<binary_cross_entropy_gradient,
                                              binary_cross_entropy_target_gradient>,
    .cost = streaming_cost<50>,
    .samples = samples,
    .make_valid = fill_probabilities,
    .is_loss = true};

const Op binary_cross_entropy_gradient{.name = "binary_cross_entropy_gradient",
                                       .attributes = {attribute::reduction},
                                       .infer = infer_pair_loss_gradient,
                                       .forward = forward_pair_loss_gradient<binary>,
                                       .cost = streaming_cost<6>,
                                       .overwrites = {{0, 0}, {1, 0}}};

const Op binary_cross_entropy_target_gradient{.name = "binary_cross_entropy_target_gradient",
                                              .attributes = {attribute::reduction},
                                              .infer = infer_pair_loss_gradient,
                                              .forward = forward_pair_loss_target_gradient<binary>,
                                              .cost = streaming_cost<48>,
                                              .overwrites = {{0, 0}, {1, 0}}};

const Op binary_cross_entropy_with_logits{
    .name = "binary_cross_entropy_with_logits",
    .attributes = {attribute::reduction},
    .infer = infer_pair_loss,
    .forward = forward_pair_loss<logits>,
    .backward = backward_pair_loss_and_target<binary_cross_entropy_with_logits_gradient,
                                              binary_cross_entropy_with_logits_target_gradient>,
    .cost = streaming_cost<50>,
    .samples = logits_samples,
    .is_loss = true};

const Op binary_cross_entropy_with_logits_gradient{
    .name = "binary_cross_entropy_with_logits_gradient",
    .attributes = {attribute::reduction},
    .infer = infer_pair_loss_gradient,
    .forward = forward_pair_loss_gradient<logits>,
    .cost = streaming_cost<20>,
    .overwrites = {{0, 0}, {1, 0}}};

const Op binary_cross_entropy_with_logits_target_gradient{
    .name = "binary_cross_entropy_with_logits_target_gradient",
    .attributes = {attribute::reduction},
    .infer = infer_pair_loss_gradient,
    .forward = forward_pair_loss_target_gradient<logits>,
    .cost = streaming_cost<2>,
    .overwrites = {{0, 0}, {1, 0}}};

const Op multilabel_soft_margin_loss{.name = "multilabel_soft_margin_loss",
                                     .attributes = {attribute::reduction},
                                     .infer = infer_multilabel,
                                     .forward = forward_multilabel,
                                     .backward = backward_multilabel,
                                     .cost = streaming_cost<50>,
                                     .workspace = terms_workspace,
                                     .samples = multilabel_samples,
                                     .constant_inputs = {1},
                                     .is_loss = true};

const Op multilabel_soft_margin_loss_gradient{.name = "multilabel_soft_margin_loss_gradient",
                                              .attributes = {attribute::reduction},
                                              .infer = infer_multilabel_gradient,
                                              .forward = forward_multilabel_gradient,
                                              .cost = streaming_cost<20>,
                                              .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
