#include "graph/ops/losses/nll_loss.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/losses/class_labels.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute classes{"classes"};

}  // namespace attribute
namespace {

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_labelled(in, "log_probabilities");
  return {loss_type(attributes, in[1].shape)};
}

void forward(const KernelCall& call) {
  const float* log_probabilities = call.inputs[0].f32().data();
  const ClassLabels labels(call.attributes, call.inputs[1], call.inputs[0].shape());
  write_loss(call.attributes, call.outputs[0], labels,
             [&](std::int64_t i) { return -log_probabilities[labels.target(i)]; });
}

void backward(GradientContext& context) {
  Attributes attributes = context.attributes();
  attributes.set("classes", context.type(context.input(0)).shape[1]);
  context.set(0,
              context.emit(nll_loss_gradient, {context.input(1), context.gradient(0)}, attributes));
}

std::vector<OpSample> samples() {
  const TensorType scores{DType::f32, {6, 5}}, labels{DType::i64, {6}};
  const TensorType maps{DType::f32, {2, 4, 3}}, map_labels{DType::i64, {2, 3}};
  return {
      {.inputs = {scores, labels}, .labels = 5},
      {.inputs = {scores, labels}, .attributes = {{"reduction", "sum"}}, .labels = 5},
      {.inputs = {scores, labels}, .attributes = {{"ignore_index", std::int64_t{1}}}, .labels = 5},
      {.inputs = {maps, map_labels}, .attributes = {{"reduction", "none"}}, .labels = 4}};
}

std::vector<TensorType> infer_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "labels, dloss");
  expect_loss_gradient(attributes, in[1], in[0].shape);
  return {{DType::f32, with_new_axis(in[0].shape, 1, attribute::classes.of(attributes))}};
}

void forward_gradient(const KernelCall& call) {
  const ClassLabels labels(call.attributes, call.inputs[0], call.outputs[0].shape());
  const TermGradients gradients(call.attributes, call.inputs[1], labels.counted());
  float* dx = call.outputs[0].f32().data();
  kernel_table().arithmetic.fill(call.outputs[0].elements(), 0, dx);
  for (std::int64_t i = 0; i < labels.size(); ++i)
    if (!labels.ignored(i)) dx[labels.target(i)] = -gradients[i];
}

void fill_labels_of_gradient(const Attributes& attributes, std::span<const Operand> inputs) {
  fill_labels(attributes, inputs[0], attribute::classes.of(attributes));
}

}  // namespace

const Op nll_loss{.name = "nll_loss",
                  .onnx = "NegativeLogLikelihoodLoss",
                  .attributes = {attribute::reduction, attribute::ignore_index},
                  .infer = infer,
                  .forward = forward,
                  .backward = backward,
                  .cost = streaming_cost<1>,
                  .samples = samples,
                  .make_valid = fill_labels_of_scores,
                  .is_loss = true};

const Op nll_loss_gradient{
    .name = "nll_loss_gradient",
    .attributes = {attribute::reduction, attribute::ignore_index, attribute::classes},
    .infer = infer_gradient,
    .forward = forward_gradient,
    .cost = streaming_cost<1>,
    .make_valid = fill_labels_of_gradient};

}  // namespace penstock::graph
