#include "graph/ops/losses/difference_loss.hpp"

#include "graph/ops/losses/pair_loss.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute beta{"beta", 1};
constexpr RealAttribute delta{"delta", 1};

}  // namespace attribute
namespace {

PairLoss squared(const Attributes&) {
  return {kernel_table().losses.squared};
}

PairLoss absolute(const Attributes&) {
  return {kernel_table().losses.absolute};
}

PairLoss smooth(const Attributes& attributes) {
  return {kernel_table().losses.smooth,
          {.beta = static_cast<float>(attribute::beta.of(attributes))}};
}

std::vector<TensorType> infer_smooth(const Attributes& attributes, Types in) {
  check_f32("beta", attribute::beta.of(attributes), {});
  return infer_pair_loss(attributes, in);
}

PairLoss huber(const Attributes& attributes) {
  return {kernel_table().losses.huber,
          {.delta = static_cast<float>(attribute::delta.of(attributes))}};
}

std::vector<TensorType> infer_huber(const Attributes& attributes, Types in) {
  check_f32("delta", attribute::delta.of(attributes), {.above_low = true});
  return infer_pair_loss(attributes, in);
}

std::vector<OpSample> huber_samples() {
  return pair_loss_samples({{"delta", 0.6}});
}

std::vector<OpSample> samples() {
  return pair_loss_samples();
}

std::vector<OpSample> smooth_samples() {
  return pair_loss_samples({{"beta", 0.6}});
}

}  // namespace

const Op mse_loss{.name = "mse_loss",
                  .attributes = {attribute::reduction},
                  .infer = infer_pair_loss,
                  .forward = forward_pair_loss<squared>,
                  .backward = backward_difference_loss<mse_loss_gradient>,
                  .cost = streaming_cost<3>,
                  .samples = samples,
                  .is_loss = true};

const Op mse_loss_gradient{.name = "mse_loss_gradient",
                           .attributes = {attribute::reduction},
                           .infer = infer_pair_loss_gradient,
                           .forward = forward_pair_loss_gradient<squared>,
                           .cost = streaming_cost<3>,
                           .overwrites = {{0, 0}, {1, 0}}};

const Op l1_loss{.name = "l1_loss",
                 .attributes = {attribute::reduction},
                 .infer = infer_pair_loss,
                 .forward = forward_pair_loss<absolute>,
                 .backward = backward_difference_loss<l1_loss_gradient>,
                 .cost = streaming_cost<3>,
                 .samples = samples,
                 .is_loss = true};

const Op l1_loss_gradient{.name = "l1_loss_gradient",
                          .attributes = {attribute::reduction},
                          .infer = infer_pair_loss_gradient,
                          .forward = forward_pair_loss_gradient<absolute>,
                          .cost = streaming_cost<3>,
                          .overwrites = {{0, 0}, {1, 0}}};

const Op smooth_l1_loss{.name = "smooth_l1_loss",
                        .attributes = {attribute::reduction, attribute::beta},
                        .infer = infer_smooth,
                        .forward = forward_pair_loss<smooth>,
                        .backward = backward_difference_loss<smooth_l1_loss_gradient>,
                        .cost = streaming_cost<6>,
                        .samples = smooth_samples,
                        .is_loss = true};

const Op smooth_l1_loss_gradient{.name = "smooth_l1_loss_gradient",
                                 .attributes = {attribute::reduction, attribute::beta},
                                 .infer = infer_pair_loss_gradient,
                                 .forward = forward_pair_loss_gradient<smooth>,
                                 .cost = streaming_cost<5>,
                                 .overwrites = {{0, 0}, {1, 0}}};

const Op huber_loss{.name = "huber_loss",
                    .attributes = {attribute::reduction, attribute::delta},
                    .infer = infer_huber,
                    .forward = forward_pair_loss<huber>,
                    .backward = backward_difference_loss<huber_loss_gradient>,
                    .cost = streaming_cost<6>,
                    .samples = huber_samples,
                    .is_loss = true};

const Op huber_loss_gradient{.name = "huber_loss_gradient",
                             .attributes = {attribute::reduction, attribute::delta},
                             .infer = infer_pair_loss_gradient,
                             .forward = forward_pair_loss_gradient<huber>,
                             .cost = streaming_cost<5>,
                             .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
