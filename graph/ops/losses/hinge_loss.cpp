#include "graph/ops/losses/hinge_loss.hpp"

#include "graph/ops/losses/pair_loss.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute margin{"margin", 1};

}  // namespace attribute
namespace {

PairLoss hinge(const Attributes& attributes) {
  return {kernel_table().losses.hinge,
          {.margin = static_cast<float>(attribute::margin.of(attributes))}};
}

PairLoss soft(const Attributes&) {
  return {kernel_table().losses.soft_margin};
}

std::vector<TensorType> infer_hinge(const Attributes& attributes, Types in) {
  check_f32("margin", attribute::margin.of(attributes), any_number);
  return infer_pair_loss(attributes, in);
}

std::vector<OpSample> hinge_samples() {
  std::vector<OpSample> all = pair_loss_samples({{"margin", 0.3}});
  for (OpSample& sample : all) sample.constants = {1};
  return all;
}

std::vector<OpSample> soft_samples() {
  return pair_loss_samples({}, -2, 2);
}

}  // namespace

const Op hinge_embedding_loss{.name = "hinge_embedding_loss",
                              .attributes = {attribute::reduction, attribute::margin},
                              .infer = infer_hinge,
                              .forward = forward_pair_loss<hinge>,
                              .backward = backward_pair_loss<hinge_embedding_loss_gradient>,
                              .cost = streaming_cost<3>,
                              .samples = hinge_samples,
                              .is_loss = true};

const Op hinge_embedding_loss_gradient{.name = "hinge_embedding_loss_gradient",
                                       .attributes = {attribute::reduction, attribute::margin},
                                       .infer = infer_pair_loss_gradient,
                                       .forward = forward_pair_loss_gradient<hinge>,
                                       .cost = streaming_cost<4>,
                                       .overwrites = {{0, 0}, {1, 0}}};

const Op soft_margin_loss{
    .name = "soft_margin_loss",
    .attributes = {attribute::reduction},
    .infer = infer_pair_loss,
    .forward = forward_pair_loss<soft>,
    .backward =
        backward_pair_loss_and_target<soft_margin_loss_gradient, soft_margin_loss_target_gradient>,
    .cost = streaming_cost<46>,
    .samples = soft_samples,
    .is_loss = true};

const Op soft_margin_loss_gradient{.name = "soft_margin_loss_gradient",
                                   .attributes = {attribute::reduction},
                                   .infer = infer_pair_loss_gradient,
                                   .forward = forward_pair_loss_gradient<soft>,
                                   .cost = streaming_cost<20>,
                                   .overwrites = {{0, 0}, {1, 0}}};

const Op soft_margin_loss_target_gradient{.name = "soft_margin_loss_target_gradient",
                                          .attributes = {attribute::reduction},
                                          .infer = infer_pair_loss_gradient,
                                          .forward = forward_pair_loss_target_gradient<soft>,
                                          .cost = streaming_cost<20>,
                                          .overwrites = {{0, 0}, {1, 0}}};

}  // namespace penstock::graph
