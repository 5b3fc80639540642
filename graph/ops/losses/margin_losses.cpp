#include "graph/ops/losses/margin_losses.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/losses/pair_loss.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/reduction.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute ranking_margin{"margin"};
constexpr RealAttribute hinge_margin{"margin", 1};

}  // namespace attribute
namespace {

float ranking_margin(const Attributes& attributes) {
  return static_cast<float>(attribute::ranking_margin.of(attributes));
}

std::vector<TensorType> infer_ranking(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "a, b, target");
  constexpr std::string_view names[] = {"a", "b", "target"};
  for (std::size_t i = 0; i < in.size(); ++i) {
    expect_dtype(in[i], DType::f32, names[i]);
    expect_shape(in[i], in[0].shape, names[i]);
  }
  expect_elements(in[0], "a");
  check_f32("margin", attribute::ranking_margin.of(attributes), any_number);
  return {loss_type(attributes, in[0].shape)};
}

void forward_ranking(const KernelCall& call) {
  const Operand& a = call.inputs[0];
  const float *b = call.inputs[1].f32().data(), *target = call.inputs[2].f32().data();
  const RankingKernels& ranking = kernel_table().losses.ranking;
  const LossForm form = loss_form(call.attributes);
  const float margin = ranking_margin(call.attributes);
  float* const out = call.outputs[0].f32().data();
  if (form == LossForm::each)
    ranking.terms(a.elements(), margin, a.f32().data(), b, target, out);
  else
    *out = mean_or_sum(form, ranking.sum(a.elements(), margin, a.f32().data(), b, target),
                       a.elements());
}

void backward_ranking(GradientContext& context) {
  const ValueId da =
      context.emit(margin_ranking_loss_gradient,
                   {context.input(0), context.input(1), context.input(2), context.gradient(0)},
                   context.attributes());
  context.set(0, da);
  if (context.needs(1)) context.set(1, context.emit(scale, {da}, {{"factor", -1.0}}));
}

std::vector<OpSample> ranking_samples() {
  const TensorType x{DType::f32, {4, 7}};
  std::vector<OpSample> all;
  for (const char* reduction : {"mean", "sum", "none"})
    all.push_back({.inputs = {x, x, x}, .attributes = {{"reduction", reduction}, {"margin", 0.3}}});
  return all;
}

std::vector<TensorType> infer_ranking_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 4, "a, b, target, dloss");
  expect_loss_gradient(attributes, in[3], in[0].shape);
  return {in[0]};
}

void forward_ranking_gradient(const KernelCall& call) {
  const Operand& a = call.inputs[0];
  const TermGradients gradients(call.attributes, call.inputs[3], a.elements());
  kernel_table().losses.ranking.gradient(
      a.elements(), ranking_margin(call.attributes), a.f32().data(), call.inputs[1].f32().data(),
      call.inputs[2].f32().data(), gradients.row(), call.outputs[0].f32().data());
}

PairLoss hinge(const Attributes& attributes) {
  return {kernel_table().losses.hinge,
          {.margin = static_cast<float>(attribute::hinge_margin.of(attributes))}};
}

PairLoss soft(const Attributes&) {
  return {kernel_table().losses.soft_margin};
}

std::vector<TensorType> infer_hinge(const Attributes& attributes, Types in) {
  check_f32("margin", attribute::hinge_margin.of(attributes), any_number);
  return infer_pair_loss(attributes, in);
}

std::vector<OpSample> hinge_samples() {
  return pair_loss_samples({{"margin", 0.3}});
}

std::vector<OpSample> soft_samples() {
  return pair_loss_samples({}, -2, 2);
}

}  // namespace

const Op margin_ranking_loss{.name = "margin_ranking_loss",
                             .attributes = {attribute::reduction, attribute::ranking_margin},
                             .infer = infer_ranking,
                             .forward = forward_ranking,
                             .backward = backward_ranking,
                             .cost = streaming_cost<4>,
                             .samples = ranking_samples,
                             .constant_inputs = {2},
                             .is_loss = true};

const Op margin_ranking_loss_gradient{
    .name = "margin_ranking_loss_gradient",
    .attributes = {attribute::reduction, attribute::ranking_margin},
    .infer = infer_ranking_gradient,
    .forward = forward_ranking_gradient,
    .cost = streaming_cost<5>,
    .overwrites = {{0, 0}, {1, 0}, {2, 0}}};

const Op hinge_embedding_loss{.name = "hinge_embedding_loss",
                              .attributes = {attribute::reduction, attribute::hinge_margin},
                              .infer = infer_hinge,
                              .forward = forward_pair_loss<hinge>,
                              .backward = backward_pair_loss<hinge_embedding_loss_gradient>,
                              .cost = streaming_cost<3>,
                              .samples = hinge_samples,
                              .constant_inputs = {1},
                              .is_loss = true};

const Op hinge_embedding_loss_gradient{
    .name = "hinge_embedding_loss_gradient",
    .attributes = {attribute::reduction, attribute::hinge_margin},
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
