#include "graph/ops/losses/class_labels.hpp"

#include <string>

#include "graph/ops/rules/expect.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

std::size_t expect_class_axis(const Attributes& attributes, const TensorType& scores) {
  const std::size_t axis =
      expect_axis(attribute::class_axis.of(attributes), scores, attribute::class_axis.name);
  expect(axis > 0, "expected class_axis to be behind axis 0, which counts samples, got 0");
  return axis;
}

namespace {

/// Returns what to do if a network makes scores for each pixel, and labels are for whole images.
/// Either the labels are meant, or the scores.
std::string advice_on_labels(const Shape& labels, const Shape& wanted) {
  if (labels.rank() != 1 || wanted.rank() == 1) return "";
  const Shape of_sample(std::vector<std::int64_t>(wanted.begin() + 1, wanted.end()));
  return "; for a label at each place, declare an i64 input of shape " + to_string(of_sample) +
         ", and for one label a sample, flatten() before the last linear layer makes scores [N,C]";
}

}  // namespace

void expect_labelled(const Attributes& attributes, Types in, std::string_view name) {
  if (in.size() == 3)
    expect_inputs(in, 3, std::string(name) + ", labels, weight");
  else
    expect_inputs(in, 2, std::string(name) + ", labels");
  expect_dtype(in[0], DType::f32, name);
  expect_rank_from(in[0], 2, name);
  expect_elements(in[0], name);
  expect_dtype(in[1], DType::i64, "labels");
  const std::size_t axis = expect_class_axis(attributes, in[0]);
  const Shape wanted = without_axis(in[0].shape, axis);
  const Shape& labels = in[1].shape;
  expect(labels == wanted, "expected labels of shape " + to_string(wanted) + " for " +
                               std::string(name) + " " + to_string(in[0].shape) +
                               ", whose classes are along axis " + std::to_string(axis) + ", got " +
                               to_string(labels) + advice_on_labels(labels, wanted));
  expect_class_weights(in, 2, in[0].shape.begin()[axis]);
}

std::int64_t classes_of(const Attributes& attributes, const Shape& scores) {
  return scores[attribute::class_axis.of(attributes)];
}

Lines class_lines(const Attributes& attributes, const Shape& scores) {
  return lines_along(scores, attribute::class_axis.of(attributes));
}

void expect_class_weights(Types in, std::size_t i, std::int64_t classes) {
  if (i >= in.size()) return;
  expect_dtype(in[i], DType::f32, "weight");
  expect_shape(in[i], {classes}, "weight");
}

const Operand* class_weights(const KernelCall& call, std::size_t i) {
  return i < call.inputs.size() ? &call.inputs[i] : nullptr;
}

void fill_labels(const Attributes& attributes, const Operand& labels, std::int64_t classes) {
  const std::int64_t ignored = attribute::ignore_index.of(attributes);
  std::int64_t next = 0;
  for (std::int64_t& label : labels.i64()) {
    // If the ignored class is the only class, it is used nevertheless.
    if (next == ignored) next = (next + 1) % classes;
    label = next;
    next = (next + 1) % classes;
  }
}

void fill_labels_of_scores(const Attributes& attributes, std::span<const Operand> inputs) {
  fill_labels(attributes, inputs[1], classes_of(attributes, inputs[0].shape()));
}

std::vector<IndexRange> ranges_of_labels(const Attributes& attributes, Types inputs) {
  return {{.input = 1,
           .end = classes_of(attributes, inputs[0].shape),
           .other = attribute::ignore_index.of(attributes),
           .element = "label"}};
}

ClassLabels::ClassLabels(const Attributes& attributes, const Operand& labels, const Shape& scores,
                         const Operand* weights)
    : lines_(class_lines(attributes, scores)),
      labels_(labels.i64().data()),
      ignore_index_(attribute::ignore_index.of(attributes)),
      weights_(weights ? weights->f32().data() : nullptr) {
  for (std::int64_t i = 0; i < size(); ++i) {
    if (ignored(i)) continue;
    check(i);
    counted_ += target_weight(i);
  }
}

void ClassLabels::check(std::int64_t i) const {
  if (labels_[i] >= 0 && labels_[i] < classes()) return;
  throw Error(Errc::invalid_data, "label " + std::to_string(labels_[i]) + " at sample " +
                                      std::to_string(i / lines_.inner) + ": expected 0 to " +
                                      std::to_string(classes() - 1));
}

}  // namespace penstock::graph
