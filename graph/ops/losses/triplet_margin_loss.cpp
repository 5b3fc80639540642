#include "graph/ops/losses/triplet_margin_loss.hpp"

#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/reduction.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute margin{"margin", 1};
constexpr RealAttribute eps{"eps", 1e-6};
constexpr IntegerAttribute p{"p", 2};
constexpr FlagAttribute swap{"swap"};

}  // namespace attribute
namespace {

constexpr std::string_view triplet_names[] = {"anchor", "near", "far"};

double margin_of(const Attributes& attributes) {
  return attribute::margin.of(attributes);
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
  return {loss_type(attributes, row_terms(in))};
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
  expect_loss_gradient(attributes, in[3], row_terms(in));
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

const Op triplet_margin_loss{.name = "triplet_margin_loss",
                             .attributes = {attribute::reduction, attribute::margin, attribute::p,
                                            attribute::eps, attribute::swap},
                             .infer = infer_triplet,
                             .forward = forward_triplet,
                             .backward = backward_triplet,
                             .cost = streaming_cost<12>,
                             .workspace = terms_workspace,
                             .samples = triplet_samples,
                             .is_loss = true};

const Op triplet_margin_loss_gradient{.name = "triplet_margin_loss_gradient",
                                      .attributes = {attribute::reduction, attribute::margin,
                                                     attribute::p, attribute::eps, attribute::swap},
                                      .infer = infer_triplet_gradient,
                                      .forward = forward_triplet_gradient,
                                      .cost = streaming_cost<20>};

}  // namespace penstock::graph
