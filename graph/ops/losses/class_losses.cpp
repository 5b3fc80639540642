#include "graph/ops/losses/class_losses.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/activations/softmax.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/losses/class_labels.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute classes{"classes"};
constexpr RealAttribute label_smoothing{"label_smoothing"};

}  // namespace attribute
namespace {

std::vector<TensorType> infer_nll(const Attributes& attributes, Types in) {
  expect_labelled(attributes, in, "log_probabilities");
  return {loss_type(attributes, in[1].shape)};
}

void forward_nll(const KernelCall& call) {
  const float* log_probabilities = call.inputs[0].f32().data();
  const ClassLabels labels(call.attributes, call.inputs[1], call.inputs[0].shape(),
                           class_weights(call, 2));
  write_loss(call.attributes, call.outputs[0], labels, [&](std::int64_t i) {
    return -log_probabilities[labels.target(i)] * labels.target_weight(i);
  });
}

void backward_nll(GradientContext& context) {
  Attributes attributes = context.attributes();
  attributes.set("classes", classes_of(attributes, context.type(context.input(0)).shape));
  std::vector<ValueId> inputs{context.input(1), context.gradient(0)};
  if (context.input_count() == 3) inputs.push_back(context.input(2));
  context.set(0, context.emit(nll_loss_gradient, inputs, attributes));
}

std::vector<OpSample> nll_samples() {
  const TensorType scores{DType::f32, {6, 5}}, labels{DType::i64, {6}};
  const TensorType maps{DType::f32, {2, 4, 3}}, map_labels{DType::i64, {2, 3}};
  const TensorType last_labels{DType::i64, {2, 4}};
  return {
      {.inputs = {scores, labels}, .labels = 5},
      {.inputs = {scores, labels}, .attributes = {{"reduction", "sum"}}, .labels = 5},
      {.inputs = {scores, labels}, .attributes = {{"ignore_index", std::int64_t{1}}}, .labels = 5},
      {.inputs = {maps, map_labels}, .attributes = {{"reduction", "none"}}, .labels = 4},
      {.inputs = {maps, last_labels},
       .attributes = {{"class_axis", std::int64_t{-1}}},
       .labels = 3},
      {.inputs = {scores, labels, {DType::f32, {5}}}, .low = 0.5, .high = 2, .labels = 5}};
}

std::vector<TensorType> infer_nll_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 3 ? 3 : 2, "labels, dloss, weight");
  expect_loss_gradient(attributes, in[1], in[0].shape);
  const std::int64_t classes = attribute::classes.of(attributes);
  expect_class_weights(in, 2, classes);
  // The axis depends on the rank of dx, and not on where the axis of the classes is.
  const std::size_t axis =
      expect_class_axis(attributes, {DType::f32, with_new_axis(in[0].shape, 0, classes)});
  return {{DType::f32, with_new_axis(in[0].shape, axis, classes)}};
}

void forward_nll_gradient(const KernelCall& call) {
  const ClassLabels labels(call.attributes, call.inputs[0], call.outputs[0].shape(),
                           class_weights(call, 2));
  const TermGradients gradients(call.attributes, call.inputs[1], labels.counted());
  float* dx = call.outputs[0].f32().data();
  kernel_table().arithmetic.fill(call.outputs[0].elements(), 0, dx);
  for (std::int64_t i = 0; i < labels.size(); ++i)
    if (!labels.ignored(i))
      dx[labels.target(i)] = static_cast<float>(-gradients[i] * labels.target_weight(i));
}

void fill_labels_of_nll_gradient(const Attributes& attributes, std::span<const Operand> inputs) {
  fill_labels(attributes, inputs[0], attribute::classes.of(attributes));
}

double smoothing(const Attributes& attributes) {
  return attribute::label_smoothing.of(attributes);
}

std::vector<TensorType> infer_cross_entropy(const Attributes& attributes, Types in) {
  expect_labelled(attributes, in, "x");
  expect_between(smoothing(attributes), 0, 1, "label_smoothing");
  return {loss_type(attributes, in[1].shape), in[0]};
}

/// Returns minus the mean of the weighted log-probabilities of all classes at label `i`.
double uniform_term(const float* log_probabilities, const ClassLabels& labels, std::int64_t i) {
  double sum = 0;
  for (std::int64_t c = 0; c < labels.classes(); ++c)
    sum -= log_probabilities[labels.at(i, c)] * labels.weight(c);
  return sum / static_cast<double>(labels.classes());
}

void forward_cross_entropy(const KernelCall& call) {
  const Shape& shape = call.inputs[0].shape();
  const ClassLabels labels(call.attributes, call.inputs[1], shape, class_weights(call, 2));
  float* log_probabilities = call.outputs[1].f32().data();
  kernel_table().softmax.log_softmax(class_lines(call.attributes, shape),
                                     call.inputs[0].f32().data(), log_probabilities);
  const double smooth = smoothing(call.attributes);
  write_loss(call.attributes, call.outputs[0], labels, [&](std::int64_t i) {
    const double of_target = -log_probabilities[labels.target(i)] * labels.target_weight(i);
    return smooth == 0
               ? of_target
               : (1 - smooth) * of_target + smooth * uniform_term(log_probabilities, labels, i);
  });
}

void backward_cross_entropy(GradientContext& context) {
  const ValueId log_probabilities = context.output(1);
  ValueId gradient = none;
  if (context.gradient(0) != none) {
    std::vector<ValueId> inputs{log_probabilities, context.input(1), context.gradient(0)};
    if (context.input_count() == 3) inputs.push_back(context.input(2));
    gradient = context.emit(cross_entropy_gradient, inputs, context.attributes());
  }
  if (context.gradient(1) != none) {
    const ValueId other =
        context.emit(log_softmax_gradient, {log_probabilities, context.gradient(1)},
                     {{"axis", attribute::class_axis.of(context.attributes())}});
    gradient = gradient == none ? other : context.emit(add, {gradient, other});
  }
  context.set(0, gradient);
}

std::vector<OpSample> cross_entropy_samples() {
  const TensorType scores{DType::f32, {6, 5}}, labels{DType::i64, {6}};
  const TensorType maps{DType::f32, {2, 4, 3}}, map_labels{DType::i64, {2, 3}};
  const TensorType last_labels{DType::i64, {2, 4}};
  return {{.inputs = {scores, labels}, .labels = 5},
          {.inputs = {scores, labels},
           .attributes = {{"reduction", "sum"}, {"ignore_index", std::int64_t{1}}},
           .labels = 5},
          {.inputs = {maps, map_labels},
           .attributes = {{"reduction", "none"}, {"label_smoothing", 0.2}},
           .labels = 4},
          {.inputs = {maps, last_labels},
           .attributes = {{"class_axis", std::int64_t{2}}, {"ignore_index", std::int64_t{1}}},
           .labels = 3},
          {.inputs = {scores, labels, {DType::f32, {5}}},
           .attributes = {{"ignore_index", std::int64_t{1}}},
           .low = 0.5,
           .high = 2,
           .labels = 5},
          {.inputs = {maps, map_labels, {DType::f32, {4}}},
           .attributes = {{"reduction", "none"}, {"label_smoothing", 0.2}},
           .low = 0.5,
           .high = 2,
           .labels = 4}};
}

std::vector<TensorType> infer_cross_entropy_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 4 ? 4 : 3, "log_probabilities, labels, dloss, weight");
  expect_loss_gradient(attributes, in[2], in[1].shape);
  expect_class_weights(in, 3, classes_of(attributes, in[0].shape));
  return {in[0]};
}

/// A WeightedGradient computes the gradient of a cross-entropy with weights w of the classes. With
/// the smoothing e, the target distribution is t[c] = e·w[c]/C, plus (1 - e)·w[label] for the
/// label, and the gradient of score c is dloss·(p[c]·sum(t) - t[c]), where p are the probabilities.
struct WeightedGradient {
  const ClassLabels& labels;
  double smooth;
  double mean_weight;  ///< This is sum(w)/C.

  WeightedGradient(const ClassLabels& of, double smoothing) : labels(of), smooth(smoothing) {
    double sum = 0;
    for (std::int64_t c = 0; c < labels.classes(); ++c) sum += labels.weight(c);
    mean_weight = sum / static_cast<double>(labels.classes());
  }

  /// Replaces the probabilities at label `i` in `dx` by gradients.
  void replace(std::int64_t i, double dloss, float* dx) const {
    const double of_label = (1 - smooth) * labels.target_weight(i);
    const double total = of_label + smooth * mean_weight;
    const double uniform = smooth / static_cast<double>(labels.classes());
    double others = 0;  // This is 1 - p[label], without losing the digits of a small difference.
    for (std::int64_t c = 0; c < labels.classes(); ++c) {
      float& element = dx[labels.at(i, c)];
      const double p = element;
      if (labels.at(i, c) != labels.target(i)) others += p;
      element = static_cast<float>(dloss * (p * total - uniform * labels.weight(c)));
    }
    const double smoothed =
        smooth * (mean_weight * (1 - others)) - uniform * labels.target_weight(i);
    dx[labels.target(i)] = static_cast<float>(dloss * (smoothed - of_label * others));
  }
};

/// Computes the gradient of a cross-entropy whose classes have weights.
void forward_weighted_gradient(const KernelCall& call, const ClassLabels& labels) {
  const TermGradients gradients(call.attributes, call.inputs[2], labels.counted());
  const WeightedGradient weighted(labels, smoothing(call.attributes));
  float* dx = call.outputs[0].f32().data();
  kernel_table().elementary.exp(call.outputs[0].elements(), call.inputs[0].f32().data(), dx);
  for (std::int64_t i = 0; i < labels.size(); ++i)
    if (labels.ignored(i))
      for (std::int64_t c = 0; c < labels.classes(); ++c) dx[labels.at(i, c)] = 0;
    else
      weighted.replace(i, gradients[i], dx);
}

void forward_cross_entropy_gradient(const KernelCall& call) {
  const ClassLabels labels(call.attributes, call.inputs[1], call.inputs[0].shape(),
                           class_weights(call, 3));
  if (class_weights(call, 3)) return forward_weighted_gradient(call, labels);
  const TermGradients gradients(call.attributes, call.inputs[2], labels.counted());
  const double smooth = smoothing(call.attributes);
  const LabelledLines lines{
      .lines = class_lines(call.attributes, call.inputs[0].shape()),
      .labels = labels.data(),
      .ignored = labels.ignore_index(),
      .of_target = static_cast<float>(1 - smooth),
      .uniform = static_cast<float>(smooth / static_cast<double>(labels.classes())),
      .dloss = gradients.row()};
  kernel_table().softmax.cross_entropy_gradient(lines, call.inputs[0].f32().data(),
                                                call.outputs[0].f32().data());
}

}  // namespace

const Op nll_loss{
    .name = "nll_loss",
    .onnx = "NegativeLogLikelihoodLoss",
    .attributes = {attribute::reduction, attribute::ignore_index, attribute::class_axis},
    .infer = infer_nll,
    .forward = forward_nll,
    .backward = backward_nll,
    .cost = streaming_cost<1>,
    .samples = nll_samples,
    .make_valid = fill_labels_of_scores,
    .index_ranges = ranges_of_labels,
    .index_inputs = {1},
    .constant_inputs = {2},
    .is_loss = true};

const Op nll_loss_gradient{.name = "nll_loss_gradient",
                           .attributes = {attribute::reduction, attribute::ignore_index,
                                          attribute::class_axis, attribute::classes},
                           .infer = infer_nll_gradient,
                           .forward = forward_nll_gradient,
                           .cost = streaming_cost<1>,
                           .make_valid = fill_labels_of_nll_gradient};

const Op cross_entropy{.name = "cross_entropy",
                       .onnx = "SoftmaxCrossEntropyLoss",
                       .attributes = {attribute::reduction, attribute::ignore_index,
                                      attribute::class_axis, attribute::label_smoothing},
                       .infer = infer_cross_entropy,
                       .forward = forward_cross_entropy,
                       .backward = backward_cross_entropy,
                       .cost = streaming_cost<15>,
                       .overwrites = {{0, 1}},
                       .samples = cross_entropy_samples,
                       .make_valid = fill_labels_of_scores,
                       .index_ranges = ranges_of_labels,
                       .index_inputs = {1},
                       .constant_inputs = {2},
                       .is_loss = true};

const Op cross_entropy_gradient{.name = "cross_entropy_gradient",
                                .attributes = {attribute::reduction, attribute::ignore_index,
                                               attribute::class_axis, attribute::label_smoothing},
                                .infer = infer_cross_entropy_gradient,
                                .forward = forward_cross_entropy_gradient,
                                .cost = streaming_cost<14>,
                                .overwrites = {{0, 0}},
                                .make_valid = fill_labels_of_scores};

}  // namespace penstock::graph
