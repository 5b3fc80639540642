#include "graph/ops/losses/binary_cross_entropy.hpp"

#include <algorithm>
#include <string>

#include "graph/ops/losses/pair_loss.hpp"
#include "graph/ops/rules/cost.hpp"
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

/// Checks that x is a probability. Outside of 0 to 1, the loss is no number or its slope has the
/// wrong sign.
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

}  // namespace penstock::graph
