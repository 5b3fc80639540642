#include "graph/ops/losses/identity_loss.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/elementwise.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/reduction.hpp"

namespace penstock::graph {

namespace attribute {

constexpr ListAttribute shape{"shape"};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  expect_elements(in[0], "x");
  return {loss_type(attributes, in[0].shape)};
}

void forward(const KernelCall& call) {
  const LossForm form = loss_form(call.attributes);
  if (form == LossForm::each) {
    copy(call.inputs[0], call.outputs[0]);
    return;
  }
  const Operand& x = call.inputs[0];
  const double sum = kernel_table().reductions.sum(x.elements(), x.f32().data());
  *call.outputs[0].f32().data() = mean_or_sum(form, sum, x.elements());
}

void backward(GradientContext& context) {
  if (loss_form(context.attributes()) == LossForm::each) {
    context.set(0, context.gradient(0));
    return;
  }
  const Shape shape = context.type(context.input(0)).shape;
  Attributes attributes = context.attributes();
  attributes.set("shape", std::vector<std::int64_t>(shape.begin(), shape.end()));
  context.set(0, context.emit(identity_loss_gradient, {context.gradient(0)}, attributes));
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {4, 7}};
  return {{.inputs = {x}},
          {.inputs = {x}, .attributes = {{"reduction", "sum"}}},
          {.inputs = {x}, .attributes = {{"reduction", "none"}}}};
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "dloss");
  expect_shape(in[0], {}, "dloss");
  return {{DType::f32, Shape(attribute::shape.of(attributes))}};
}

void forward_gradient(const KernelCall& call) {
  const Operand& dx = call.outputs[0];
  const TermGradients gradients(call.attributes, call.inputs[0], dx.elements());
  kernel_table().arithmetic.fill(dx.elements(), gradients[0], dx.f32().data());
}

}  // namespace

const Op identity_loss{.name = "identity_loss",
                       .attributes = {attribute::reduction},
                       .infer = infer,
                       .forward = forward,
                       .backward = backward,
                       .cost = streaming_cost<1>,
                       .overwrites = {{0, 0}},
                       .samples = samples,
                       .is_loss = true};

const Op identity_loss_gradient{.name = "identity_loss_gradient",
                                .attributes = {attribute::reduction, attribute::shape},
                                .infer = infer_gradient,
                                .forward = forward_gradient,
                                .cost = streaming_cost<1>};

}  // namespace penstock::graph
