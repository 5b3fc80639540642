#include "graph/ops/losses/class_margin_losses.hpp"

#include <algorithm>
#include <string>

#include "graph/ops/losses/class_labels.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/reduction.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute class_margin{"margin", 1};
constexpr IntegerAttribute margin_power{"p", 1};

}  // namespace attribute
namespace {

/// Rows are the scores [N,C] of a call, and its labels: one for each row, or C.
struct Rows {
  std::int64_t count, classes, labels_each;
  const float* x;
  const std::int64_t* labels;

  explicit Rows(const KernelCall& call)
      : count(call.inputs[0].shape()[0]),
        classes(call.inputs[0].shape()[1]),
        labels_each(call.inputs[1].elements() / count),
        x(call.inputs[0].f32().data()),
        labels(call.inputs[1].i64().data()) {}
  const float* scores(std::int64_t row) const { return x + row * classes; }
  std::span<const std::int64_t> labels_of(std::int64_t row) const {
    return {labels + row * labels_each, static_cast<std::size_t>(labels_each)};
  }
};

void expect_label(std::int64_t label, std::int64_t least, const Rows& rows, std::int64_t row) {
  if (label >= least && label < rows.classes) return;
  throw Error(Errc::invalid_data, "label " + std::to_string(label) + " at sample " +
                                      std::to_string(row) + ": expected " + std::to_string(least) +
                                      " to " + std::to_string(rows.classes - 1));
}

void expect_scores(const TensorType& x) {
  expect_dtype(x, DType::f32, "x");
  expect_rank(x, 2, "x");
  expect_elements(x, "x");
}

/// A Hinge computes the terms of multi_margin_loss.
struct Hinge {
  float margin;
  bool squared;
  const Operand* weights;

  Hinge(const Attributes& attributes, const Operand* weights_of_classes)
      : margin(static_cast<float>(attribute::class_margin.of(attributes))),
        squared(attribute::margin_power.of(attributes) == 2),
        weights(weights_of_classes) {}
  /// Returns the weight of `label`, divided by the number of classes.
  float share(std::int64_t label, std::int64_t classes) const {
    const float weight = weights ? weights->f32()[static_cast<std::size_t>(label)] : 1.0f;
    return weight / static_cast<float>(classes);
  }
  /// Returns how much score `other` lacks to be less than score `right` by the margin.
  float lack(float right, float other) const { return margin - right + other; }
  float term(float lack) const { return lack <= 0 ? 0 : squared ? lack * lack : lack; }
  float slope(float lack) const { return lack > 0 ? squared ? 2 * lack : 1.0f : 0.0f; }
};

std::vector<TensorType> infer_multi(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 3 ? 3 : 2, in.size() == 3 ? "x, labels, weight" : "x, labels");
  expect_scores(in[0]);
  expect_dtype(in[1], DType::i64, "labels");
  expect_shape(in[1], row_terms(in), "labels");
  expect_class_weights(in, 2, in[0].shape[1]);
  check_f32("margin", attribute::class_margin.of(attributes), any_number);
  const std::int64_t p = attribute::margin_power.of(attributes);
  if (p != 1 && p != 2)
    throw Error(Errc::invalid_argument, "expected p of 1 or 2, got " + std::to_string(p));
  return {loss_type(attributes, row_terms(in))};
}

void forward_multi(const KernelCall& call) {
  const Rows rows(call);
  const Hinge hinge(call.attributes, class_weights(call, 2));
  const std::span<float> terms = terms_of(call, rows.count);
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const std::int64_t label = rows.labels_of(row)[0];
    expect_label(label, 0, rows, row);
    const float* x = rows.scores(row);
    double sum = 0;
    for (std::int64_t c = 0; c < rows.classes; ++c)
      if (c != label) sum += hinge.term(hinge.lack(x[label], x[c]));
    terms[static_cast<std::size_t>(row)] =
        static_cast<float>(sum * hinge.share(label, rows.classes));
  }
  reduce_terms(call.attributes, terms, call.outputs[0]);
}

void backward_multi(GradientContext& context) {
  std::vector<ValueId> inputs{context.input(0), context.input(1), context.gradient(0)};
  if (context.input_count() == 3) inputs.push_back(context.input(2));
  context.set(0, context.emit(multi_margin_loss_gradient, inputs, context.attributes()));
}

std::vector<OpSample> multi_samples() {
  const TensorType x{DType::f32, {6, 5}}, labels{DType::i64, {6}}, weight{DType::f32, {5}};
  return {{.inputs = {x, labels}, .attributes = {{"margin", 0.3}}, .labels = 5},
          {.inputs = {x, labels}, .attributes = {{"p", 2}, {"reduction", "none"}}, .labels = 5},
          {.inputs = {x, labels, weight},
           .attributes = {{"reduction", "sum"}, {"margin", 0.325}},
           .low = 0.5,
           .high = 2,
           .labels = 5}};
}

void fill_labels_of_rows(const Attributes&, std::span<const Operand> inputs) {
  std::int64_t next = 0;
  for (std::int64_t& label : inputs[1].i64()) label = next++ % inputs[0].shape()[1];
}

std::vector<IndexRange> ranges_of_multi(const Attributes&, Types inputs) {
  return {{.input = 1, .end = inputs[0].shape[1], .element = "label"}};
}

std::vector<TensorType> infer_multi_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 4 ? 4 : 3, "x, labels, dloss, weight");
  expect_loss_gradient(attributes, in[2], row_terms(in));
  return {in[0]};
}

void forward_multi_gradient(const KernelCall& call) {
  const Rows rows(call);
  const Hinge hinge(call.attributes, class_weights(call, 3));
  const TermGradients gradients(call.attributes, call.inputs[2], rows.count);
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const std::int64_t label = rows.labels_of(row)[0];
    expect_label(label, 0, rows, row);
    const float* x = rows.scores(row);
    float* dx = call.outputs[0].f32().data() + row * rows.classes;
    const float right = x[label], each = gradients[row] * hinge.share(label, rows.classes);
    double sum = 0;
    for (std::int64_t c = 0; c < rows.classes; ++c) {
      dx[c] = c == label ? 0.0f : each * hinge.slope(hinge.lack(right, x[c]));
      sum += dx[c];
    }
    dx[label] = static_cast<float>(-sum);
  }
}

std::vector<TensorType> infer_multilabel(const Attributes& attributes, Types in) {
  expect_inputs(in, 2, "x, labels");
  expect_scores(in[0]);
  expect_dtype(in[1], DType::i64, "labels");
  expect_shape(in[1], in[0].shape, "labels");
  return {loss_type(attributes, row_terms(in))};
}

/// Returns the labels of a row up to the first -1.
std::span<const std::int64_t> counted_labels(const Rows& rows, std::int64_t row) {
  const auto all = rows.labels_of(row);
  for (const std::int64_t label : all) expect_label(label, -1, rows, row);
  return all.first(static_cast<std::size_t>(std::ranges::find(all, -1) - all.begin()));
}

/// Calls `visit(label, other, lack)` for each pair of a label of the row and a class that is not
/// among its labels, where `lack` is above 0 or NaN.
template <class Visit>
void for_each_lack(const Rows& rows, std::int64_t row, Visit visit) {
  const float* x = rows.scores(row);
  const auto labels = counted_labels(rows, row);
  for (std::int64_t other = 0; other < rows.classes; ++other) {
    if (std::ranges::find(labels, other) != labels.end()) continue;
    for (const std::int64_t label : labels) {
      const float lack = 1.0f - x[label] + x[other];
      if (!(lack <= 0)) visit(label, other, lack);
    }
  }
}

void forward_multilabel(const KernelCall& call) {
  const Rows rows(call);
  const std::span<float> terms = terms_of(call, rows.count);
  for (std::int64_t row = 0; row < rows.count; ++row) {
    double sum = 0;
    for_each_lack(rows, row, [&](std::int64_t, std::int64_t, float lack) { sum += lack; });
    terms[static_cast<std::size_t>(row)] =
        static_cast<float>(sum / static_cast<double>(rows.classes));
  }
  reduce_terms(call.attributes, terms, call.outputs[0]);
}

void backward_multilabel(GradientContext& context) {
  context.set(0, context.emit(multilabel_margin_loss_gradient,
                              {context.input(0), context.input(1), context.gradient(0)},
                              context.attributes()));
}

std::vector<OpSample> multilabel_samples() {
  const TensorType x{DType::f32, {6, 5}}, labels{DType::i64, {6, 5}};
  std::vector<OpSample> all;
  for (const char* reduction : {"mean", "sum", "none"})
    all.push_back({.inputs = {x, labels},
                   .attributes = {{"reduction", reduction}},
                   .high = -0.5,
                   .labels = 3});
  return all;
}

/// Gives each sample half of the classes as labels, which makes the most pairs.
void fill_half_of_labels(const Attributes&, std::span<const Operand> inputs) {
  const std::int64_t classes = inputs[0].shape()[1];
  std::int64_t i = 0;
  for (std::int64_t& label : inputs[1].i64()) {
    const std::int64_t c = i++ % classes;
    label = c < classes / 2 ? c : -1;
  }
}

std::vector<IndexRange> ranges_of_multilabel(const Attributes&, Types inputs) {
  return {{.input = 1, .end = inputs[0].shape[1], .other = -1, .element = "label"}};
}

std::vector<TensorType> infer_multilabel_gradient(const Attributes& attributes, Types in) {
  expect_inputs(in, 3, "x, labels, dloss");
  expect_loss_gradient(attributes, in[2], row_terms(in));
  return {in[0]};
}

void forward_multilabel_gradient(const KernelCall& call) {
  const Rows rows(call);
  const TermGradients gradients(call.attributes, call.inputs[2], rows.count);
  for (std::int64_t row = 0; row < rows.count; ++row) {
    float* dx = call.outputs[0].f32().data() + row * rows.classes;
    std::fill_n(dx, rows.classes, 0.0f);
    for_each_lack(rows, row, [&](std::int64_t label, std::int64_t other, float lack) {
      const float counts = lack > 0 ? 1.0f : 0.0f;
      dx[other] += counts;
      dx[label] -= counts;
    });
    const float each = gradients[row] / static_cast<float>(rows.classes);
    for (std::int64_t c = 0; c < rows.classes; ++c) dx[c] *= each;
  }
}

/// Returns the cost of the multi-label loss, or of its gradient, if half of the classes of a row
/// are labels: each class is looked up among the labels, and each label is compared with all
/// others.
Cost multilabel_cost(const Attributes& attributes, Types in, Types out) {
  Cost cost = streaming_cost<0>(attributes, in, out);
  const auto elements = static_cast<double>(in[0].shape.elements());
  cost.flops = 1.25 * elements * static_cast<double>(in[0].shape[-1]);
  return cost;
}

}  // namespace

const Op multi_margin_loss{
    .name = "multi_margin_loss",
    .attributes = {attribute::reduction, attribute::class_margin, attribute::margin_power},
    .infer = infer_multi,
    .forward = forward_multi,
    .backward = backward_multi,
    .cost = streaming_cost<5>,
    .workspace = terms_workspace,
    .samples = multi_samples,
    .make_valid = fill_labels_of_rows,
    .index_ranges = ranges_of_multi,
    .index_inputs = {1},
    .constant_inputs = {2},
    .is_loss = true};

const Op multi_margin_loss_gradient{
    .name = "multi_margin_loss_gradient",
    .attributes = {attribute::reduction, attribute::class_margin, attribute::margin_power},
    .infer = infer_multi_gradient,
    .forward = forward_multi_gradient,
    .cost = streaming_cost<5>,
    .make_valid = fill_labels_of_rows};

const Op multilabel_margin_loss{.name = "multilabel_margin_loss",
                                .attributes = {attribute::reduction},
                                .infer = infer_multilabel,
                                .forward = forward_multilabel,
                                .backward = backward_multilabel,
                                .cost = multilabel_cost,
                                .workspace = terms_workspace,
                                .samples = multilabel_samples,
                                .make_valid = fill_half_of_labels,
                                .index_ranges = ranges_of_multilabel,
                                .index_inputs = {1},
                                .is_loss = true};

const Op multilabel_margin_loss_gradient{.name = "multilabel_margin_loss_gradient",
                                         .attributes = {attribute::reduction},
                                         .infer = infer_multilabel_gradient,
                                         .forward = forward_multilabel_gradient,
                                         .cost = multilabel_cost,
                                         .make_valid = fill_half_of_labels};

}  // namespace penstock::graph
