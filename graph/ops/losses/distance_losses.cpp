#include "graph/ops/losses/distance_losses.hpp"

#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/reduction.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute cosine_margin{"margin"};
constexpr RealAttribute triplet_margin{"margin", 1};
constexpr RealAttribute eps{"eps", 1e-6};
constexpr IntegerAttribute p{"p", 2};
constexpr FlagAttribute swap{"swap"};

}  // namespace attribute
namespace {

constexpr std::string_view pair_names[] = {"a", "b"};

CosineRows cosine_rows(const KernelCall& call) {
  const Operand& a = call.inputs[0];
  return {.rows = a.shape()[0],
          .width = a.shape()[1],
          .margin = static_cast<float>(attribute::cosine_margin.of(call.attributes)),
          .a = a.f32().data(),
          .b = call.inputs[1].f32().data(),
          .target = call.inputs[2].f32().data()};
}

/// Returns the shape of the terms of a loss, which has one term for each row.
Shape terms_shape(Types in) {
  return {in[0].shape[0]};
}

std::vector<TensorType> infer_cosine(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "a, b, target");
  expect_rows(in, pair_names);
  expect_dtype(in[2], DType::f32, "target");
  expect_shape(in[2], terms_shape(in), "target");
  check_f32("margin", attribute::cosine_margin.of(attributes), any_number);
  return {loss_type(attributes, terms_shape(in))};
}

void forward_cosine(const KernelCall& call) {
  const CosineRows rows = cosine_rows(call);
  const std::span<float> terms = terms_of(call, rows.rows);
  kernel_table().row_losses.cosine(rows, terms.data());
  reduce_terms(call.attributes, terms, call.outputs[0]);
}

void backward_cosine(GradientContext& context) {
  const auto gradients =
      context.emit_all(cosine_embedding_loss_gradient,
                       {context.input(0), context.input(1), context.input(2), context.gradient(0)},
                       context.attributes());
  context.set(0, gradients[0]);
  context.set(1, gradients[1]);
}

std::vector<OpSample> cosine_samples() {
  const TensorType x{DType::f32, {6, 5}}, target{DType::f32, {6}};
  return {{.inputs = {x, x, target}, .constants = {2}},
          {.inputs = {x, x, target},
           .attributes = {{"reduction", "sum"}, {"margin", 0.1}},
           .constants = {2}},
          {.inputs = {x, x, target},
           .attributes = {{"reduction", "none"}, {"margin", -0.4}},
           .constants = {2}}};
}

std::vector<TensorType> infer_cosine_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 4, "a, b, target, dloss");
  expect_loss_gradient(attributes, in[3], terms_shape(in));
  return {in[0], in[1]};
}

void forward_cosine_gradient(const KernelCall& call) {
  const CosineRows rows = cosine_rows(call);
  const TermGradients gradients(call.attributes, call.inputs[3], rows.rows);
  kernel_table().row_losses.cosine_gradient(rows, gradients.row(), call.outputs[0].f32().data(),
                                            call.outputs[1].f32().data());
}

constexpr std::string_view triplet_names[] = {"anchor", "near", "far"};

double margin_of(const Attributes& attributes) {
  return attribute::triplet_margin.of(attributes);
}
double eps_of(const Attributes& attributes) {
  return attribute::eps.of(attributes);
}
std::int64_t norm_of(const Attributes& attributes) {
  return attribute::p.of(attributes);
}

TripletRows triplet_rows(const KernelCall& call) {
  const Operand& anchor = call.inputs[0];
  return {.rows = anchor.shape()[0],
          .width = anchor.shape()[1],
          .margin = static_cast<float>(margin_of(call.attributes)),
          .eps = static_cast<float>(eps_of(call.attributes)),
          .manhattan = norm_of(call.attributes) == 1,
          .swap = attribute::swap.of(call.attributes),
          .anchor = anchor.f32().data(),
          .near = call.inputs[1].f32().data(),
          .far = call.inputs[2].f32().data()};
}

std::vector<TensorType> infer_triplet(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "anchor, near, far");
  expect_rows(in, triplet_names);
  check_f32("margin", margin_of(attributes), {.above_low = true});
  check_f32("eps", eps_of(attributes), {});
  const std::int64_t p = norm_of(attributes);
  if (p != 1 && p != 2)
    throw Error(Errc::invalid_argument, "expected p of 1 or 2, got " + std::to_string(p));
  return {loss_type(attributes, terms_shape(in))};
}

void forward_triplet(const KernelCall& call) {
  const TripletRows rows = triplet_rows(call);
  const std::span<float> terms = terms_of(call, rows.rows);
  kernel_table().row_losses.triplet(rows, terms.data());
  reduce_terms(call.attributes, terms, call.outputs[0]);
}

void backward_triplet(GradientContext& context) {
  const auto gradients =
      context.emit_all(triplet_margin_loss_gradient,
                       {context.input(0), context.input(1), context.input(2), context.gradient(0)},
                       context.attributes());
  for (std::size_t i = 0; i < gradients.size(); ++i) context.set(i, gradients[i]);
}

std::vector<OpSample> triplet_samples() {
  const TensorType x{DType::f32, {6, 5}}, few{DType::f32, {3, 4}};
  return {{.inputs = {x, x, x}},
          {.inputs = {x, x, x},
           .attributes = {{"reduction", "sum"}, {"swap", std::int64_t{1}}, {"margin", 0.5}}},
          {.inputs = {few, few, few},
           .attributes = {{"eps", 0.05},
                          {"reduction", "none"},
                          {"p", std::int64_t{1}},
                          {"swap", std::int64_t{1}}}}};
}

std::vector<TensorType> infer_triplet_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 4, "anchor, near, far, dloss");
  expect_loss_gradient(attributes, in[3], terms_shape(in));
  return {in[0], in[1], in[2]};
}

void forward_triplet_gradient(const KernelCall& call) {
  const TripletRows rows = triplet_rows(call);
  const TermGradients gradients(call.attributes, call.inputs[3], rows.rows);
  kernel_table().row_losses.triplet_gradient(
      rows, gradients.row(),
      {call.outputs[0].f32().data(), call.outputs[1].f32().data(), call.outputs[2].f32().data()});
}

}  // namespace

const Op cosine_embedding_loss{.name = "cosine_embedding_loss",
                               .attributes = {attribute::reduction, attribute::cosine_margin},
                               .infer = infer_cosine,
                               .forward = forward_cosine,
                               .backward = backward_cosine,
                               .cost = streaming_cost<6>,
                               .workspace = terms_workspace,
                               .samples = cosine_samples,
                               .is_loss = true};

const Op cosine_embedding_loss_gradient{
    .name = "cosine_embedding_loss_gradient",
    .attributes = {attribute::reduction, attribute::cosine_margin},
    .infer = infer_cosine_gradient,
    .forward = forward_cosine_gradient,
    .cost = streaming_cost<12>};

const Op triplet_margin_loss{.name = "triplet_margin_loss",
                             .attributes = {attribute::reduction, attribute::triplet_margin,
                                            attribute::p, attribute::eps, attribute::swap},
                             .infer = infer_triplet,
                             .forward = forward_triplet,
                             .backward = backward_triplet,
                             .cost = streaming_cost<12>,
                             .workspace = terms_workspace,
                             .samples = triplet_samples,
                             .is_loss = true};

const Op triplet_margin_loss_gradient{
    .name = "triplet_margin_loss_gradient",
    .attributes = {attribute::reduction, attribute::triplet_margin, attribute::p, attribute::eps,
                   attribute::swap},
    .infer = infer_triplet_gradient,
    .forward = forward_triplet_gradient,
    .cost = streaming_cost<20>};

}  // namespace penstock::graph
