#include "graph/ops/losses/margin_ranking_loss.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/arithmetic/scale.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/reduction.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute margin{"margin"};

}  // namespace attribute
namespace {

float margin_of(const Attributes& attributes) {
  return static_cast<float>(attribute::margin.of(attributes));
}

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "a, b, target");
  constexpr std::string_view names[] = {"a", "b", "target"};
  for (std::size_t i = 0; i < in.size(); ++i) {
    expect_dtype(in[i], DType::f32, names[i]);
    expect_shape(in[i], in[0].shape, names[i]);
  }
  expect_elements(in[0], "a");
  check_f32("margin", attribute::margin.of(attributes), any_number);
  return {loss_type(attributes, in[0].shape)};
}

void forward(const KernelCall& call) {
  const Operand& a = call.inputs[0];
  const float *b = call.inputs[1].f32().data(), *target = call.inputs[2].f32().data();
  const RankingKernels& ranking = kernel_table().losses.ranking;
  const LossForm form = loss_form(call.attributes);
  const float margin = margin_of(call.attributes);
  float* const out = call.outputs[0].f32().data();
  if (form == LossForm::each)
    ranking.terms(a.elements(), margin, a.f32().data(), b, target, out);
  else
    *out = mean_or_sum(form, ranking.sum(a.elements(), margin, a.f32().data(), b, target),
                       a.elements());
}

void backward(GradientContext& context) {
  const ValueId da =
      context.emit(margin_ranking_loss_gradient,
                   {context.input(0), context.input(1), context.input(2), context.gradient(0)},
                   context.attributes());
  context.set(0, da);
  if (context.needs(1)) context.set(1, context.emit(scale, {da}, {{"factor", -1.0}}));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {4, 7}};
  std::vector<OpSample> all;
  for (const char* reduction : {"mean", "sum", "none"})
    all.push_back({.inputs = {x, x, x},
                   .attributes = {{"reduction", reduction}, {"margin", 0.3}},
                   .constants = {2}});
  return all;
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 4, "a, b, target, dloss");
  expect_loss_gradient(attributes, in[3], in[0].shape);
  return {in[0]};
}

void forward_gradient(const KernelCall& call) {
  const Operand& a = call.inputs[0];
  const TermGradients gradients(call.attributes, call.inputs[3], a.elements());
  kernel_table().losses.ranking.gradient(a.elements(), margin_of(call.attributes), a.f32().data(),
                                         call.inputs[1].f32().data(), call.inputs[2].f32().data(),
                                         gradients.row(), call.outputs[0].f32().data());
}

}  // namespace

const Op margin_ranking_loss{.name = "margin_ranking_loss",
                             .attributes = {attribute::reduction, attribute::margin},
                             .infer = infer,
                             .forward = forward,
                             .backward = backward,
                             .cost = streaming_cost<4>,
                             .samples = samples,
                             .is_loss = true};

const Op margin_ranking_loss_gradient{.name = "margin_ranking_loss_gradient",
                                      .attributes = {attribute::reduction, attribute::margin},
                                      .infer = infer_gradient,
                                      .forward = forward_gradient,
                                      .cost = streaming_cost<5>,
                                      .overwrites = {{0, 0}, {1, 0}, {2, 0}}};

}  // namespace penstock::graph
