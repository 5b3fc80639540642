#include "graph/ops/losses/cosine_embedding_loss.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/reduction.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute margin{"margin"};

}  // namespace attribute
namespace {

constexpr std::string_view pair_names[] = {"a", "b"};

CosineRows cosine_rows(const KernelCall& call) {
  const Operand& a = call.inputs[0];
  return {.rows = a.shape()[0],
          .width = a.shape()[1],
          .margin = static_cast<float>(attribute::margin.of(call.attributes)),
          .a = a.f32().data(),
          .b = call.inputs[1].f32().data(),
          .target = call.inputs[2].f32().data()};
}

std::vector<TensorType> infer_cosine(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "a, b, target");
  expect_rows(in, pair_names);
  expect_dtype(in[2], DType::f32, "target");
  expect_shape(in[2], row_terms(in), "target");
  check_f32("margin", attribute::margin.of(attributes), any_number);
  return {loss_type(attributes, row_terms(in))};
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
  return {{.inputs = {x, x, target}},
          {.inputs = {x, x, target}, .attributes = {{"reduction", "sum"}, {"margin", 0.1}}},
          {.inputs = {x, x, target}, .attributes = {{"reduction", "none"}, {"margin", -0.4}}}};
}

std::vector<TensorType> infer_cosine_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 4, "a, b, target, dloss");
  expect_loss_gradient(attributes, in[3], row_terms(in));
  return {in[0], in[1]};
}

void forward_cosine_gradient(const KernelCall& call) {
  const CosineRows rows = cosine_rows(call);
  const TermGradients gradients(call.attributes, call.inputs[3], rows.rows);
  kernel_table().row_losses.cosine_gradient(rows, gradients.row(), call.outputs[0].f32().data(),
                                            call.outputs[1].f32().data());
}

}  // namespace

const Op cosine_embedding_loss{.name = "cosine_embedding_loss",
                               .attributes = {attribute::reduction, attribute::margin},
                               .infer = infer_cosine,
                               .forward = forward_cosine,
                               .backward = backward_cosine,
                               .cost = streaming_cost<6>,
                               .workspace = terms_workspace,
                               .samples = cosine_samples,
                               .constant_inputs = {2},
                               .is_loss = true};

const Op cosine_embedding_loss_gradient{.name = "cosine_embedding_loss_gradient",
                                        .attributes = {attribute::reduction, attribute::margin},
                                        .infer = infer_cosine_gradient,
                                        .forward = forward_cosine_gradient,
                                        .cost = streaming_cost<12>};

}  // namespace penstock::graph
