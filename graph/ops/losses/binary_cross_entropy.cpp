#include "graph/ops/losses/binary_cross_entropy.hpp"

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/pair_loss.hpp"

namespace penstock::graph {
namespace {

PairLoss binary(const Attributes&) {
  return {kernel_table().losses.binary};
}

PairLoss logits(const Attributes&) {
  return {kernel_table().losses.binary_logits};
}

std::vector<OpSample> samples() {
  return pair_loss_samples({}, 0.2, 0.8);
}

std::vector<OpSample> logits_samples() {
  return pair_loss_samples({}, -3, 3);
}

}  // namespace

const Op binary_cross_entropy{
    .name = "binary_cross_entropy",
    .infer = infer_pair_loss,
    .forward = forward_pair_loss<binary>,
    .backward = backward_pair_loss_and_target<binary_cross_entropy_gradient,
                                              binary_cross_entropy_target_gradient>,
    .cost = streaming_cost<50>,
    .samples = samples,
    .is_loss = true};

const Op binary_cross_entropy_gradient{.name = "binary_cross_entropy_gradient",
                                       .infer = infer_pair_loss_gradient,
                                       .forward = forward_pair_loss_gradient<binary>,
                                       .cost = streaming_cost<6>,
                                       .overwrites = {{0, 0}, {1, 0}}};

const Op binary_cross_entropy_target_gradient{.name = "binary_cross_entropy_target_gradient",
                                              .infer = infer_pair_loss_gradient,
                                              .forward = forward_pair_loss_target_gradient<binary>,
                                              .cost = streaming_cost<48>,
                                              .overwrites = {{0, 0}, {1, 0}}};

const Op binary_cross_entropy_with_logits{
    .name = "binary_cross_entropy_with_logits",
    .infer = infer_pair_loss,
    .forward = forward_pair_loss<logits>,
    .backward = backward_pair_loss_and_target<binary_cross_entropy_with_logits_gradient,
                                              binary_cross_entropy_with_logits_target_gradient>,
    .cost = streaming_cost<50>,
    .samples = logits_samples,
    .is_loss = true};

const Op binary_cross_entropy_with_logits_gradient{
    .name = "binary_cross_entropy_with_logits_gradient",
    .infer = infer_pair_loss_gradient,
    .forward = forward_pair_loss_gradient<logits>,
    .cost = streaming_cost<20>,
    .overwrites = {{0, 0}, {1, 0}}};

const Op binary_cross_entropy_with_logits_target_gradient{
    .name = "binary_cross_entropy_with_logits_target_gradient",
    .infer = infer_pair_loss_gradient,
    .forward = forward_pair_loss_target_gradient<logits>,
    .cost = streaming_cost<2>,
    .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
