#include "graph/ops/losses/kl_div_loss.hpp"

#include "graph/ops/losses/pair_loss.hpp"
#include "graph/ops/rules/cost.hpp"

namespace penstock::graph {

namespace attribute {

constexpr FlagAttribute log_target{"log_target"};

}  // namespace attribute
namespace {

PairLoss divergence(const Attributes& attributes) {
  const LossKernels& losses = kernel_table().losses;
  return {attribute::log_target.of(attributes) ? losses.divergence_from_logarithm
                                               : losses.divergence};
}

std::vector<OpSample> samples() {
  std::vector<OpSample> all = pair_loss_samples({}, 0.1, 1.5);
  for (OpSample& sample : pair_loss_samples({{"log_target", std::int64_t{1}}}))
    all.push_back(std::move(sample));
  return all;
}

}  // namespace

const Op kl_div_loss{
    .name = "kl_div_loss",
    .attributes = {attribute::reduction, attribute::log_target},
    .infer = infer_pair_loss,
    .forward = forward_pair_loss<divergence>,
    .backward = backward_pair_loss_and_target<kl_div_loss_gradient, kl_div_loss_target_gradient>,
    .cost = streaming_cost<26>,
    .samples = samples,
    .is_loss = true};

const Op kl_div_loss_gradient{.name = "kl_div_loss_gradient",
                              .attributes = {attribute::reduction, attribute::log_target},
                              .infer = infer_pair_loss_gradient,
                              .forward = forward_pair_loss_gradient<divergence>,
                              .cost = streaming_cost<2>,
                              .overwrites = {{0, 0}, {1, 0}}};

const Op kl_div_loss_target_gradient{.name = "kl_div_loss_target_gradient",
                                     .attributes = {attribute::reduction, attribute::log_target},
                                     .infer = infer_pair_loss_gradient,
                                     .forward = forward_pair_loss_target_gradient<divergence>,
                                     .cost = streaming_cost<26>,
                                     .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
