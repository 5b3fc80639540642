#include "graph/ops/losses/distribution_losses.hpp"

#include "graph/ops/losses/pair_loss.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr FlagAttribute log_target{"log_target"};
constexpr RealAttribute eps{"eps", 1e-8};
constexpr FlagAttribute log_input{"log_input", true};
constexpr FlagAttribute full{"full"};

}  // namespace attribute
namespace {

PairLoss divergence(const Attributes& attributes) {
  const LossKernels& losses = kernel_table().losses;
  return {attribute::log_target.of(attributes) ? losses.divergence_from_logarithm
                                               : losses.divergence};
}

std::vector<OpSample> divergence_samples() {
  std::vector<OpSample> all = pair_loss_samples({}, 0.1, 1.5);
  for (OpSample& sample : pair_loss_samples({{"log_target", std::int64_t{1}}}))
    all.push_back(std::move(sample));
  return all;
}

double eps_of(const Attributes& attributes) {
  return attribute::eps.of(attributes);
}

PairLoss poisson(const Attributes& attributes) {
  return {kernel_table()
              .losses.poisson[attribute::log_input.of(attributes)][attribute::full.of(attributes)],
          {.eps = static_cast<float>(eps_of(attributes))}};
}

std::vector<TensorType> infer_poisson(const Attributes& attributes, Types in) {
  check_f32("eps", eps_of(attributes), {});
  return infer_pair_loss(attributes, in);
}

std::vector<OpSample> poisson_samples() {
  std::vector<OpSample> all;
  for (const std::int64_t log_input : {0, 1})
    for (const std::int64_t full : {0, 1})
      for (OpSample& sample :
           pair_loss_samples({{"log_input", log_input}, {"full", full}, {"eps", 1e-3}}, 1.1, 3))
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
    .samples = divergence_samples,
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

const Op poisson_nll_loss{
    .name = "poisson_nll_loss",
    .attributes = {attribute::reduction, attribute::log_input, attribute::full, attribute::eps},
    .infer = infer_poisson,
    .forward = forward_pair_loss<poisson>,
    .backward =
        backward_pair_loss_and_target<poisson_nll_loss_gradient, poisson_nll_loss_target_gradient>,
    .cost = streaming_cost<40>,
    .samples = poisson_samples,
    .is_loss = true};

const Op poisson_nll_loss_gradient{
    .name = "poisson_nll_loss_gradient",
    .attributes = {attribute::reduction, attribute::log_input, attribute::full, attribute::eps},
    .infer = infer_pair_loss_gradient,
    .forward = forward_pair_loss_gradient<poisson>,
    .cost = streaming_cost<18>,
    .overwrites = {{0, 0}, {1, 0}}};

const Op poisson_nll_loss_target_gradient{
    .name = "poisson_nll_loss_target_gradient",
    .attributes = {attribute::reduction, attribute::log_input, attribute::full, attribute::eps},
    .infer = infer_pair_loss_gradient,
    .forward = forward_pair_loss_target_gradient<poisson>,
    .cost = streaming_cost<30>,
    .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
