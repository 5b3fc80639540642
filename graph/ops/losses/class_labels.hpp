// Some losses take class labels [N,...] beside scores that have one axis more, along which the
// classes are: [N,C,...] or, if the attribute `class_axis` is -1, [N,...,C]. Labels that equal the
// attribute `ignore_index`, which is -100 by default, do not count. An optional last input has a
// weight for each class, by which the terms of the labels of that class are multiplied; a mean is
// then divided by the sum of the labels' weights.
#pragma once

#include "graph/ir/op.hpp"
#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/reduction.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr IntegerAttribute ignore_index{"ignore_index", -100};
inline constexpr IntegerAttribute class_axis{"class_axis", 1};

}  // namespace attribute

/// Checks the inputs (x f32 [N,C,...], labels i64 [N,...], and weight f32 [C] if there is one);
/// messages call x by the name `name`.
void expect_labelled(const Attributes& attributes, Types inputs, std::string_view name);
/// Returns the number of the axis of `scores` along which the classes are. @throws Error
/// shape_mismatch if there is no such axis, or if it is axis 0.
std::size_t expect_class_axis(const Attributes& attributes, const TensorType& scores);
/// Returns the number of classes of the scores of shape `scores`.
std::int64_t classes_of(const Attributes& attributes, const Shape& scores);
/// Returns the lines of the scores along the axis of the classes.
Lines class_lines(const Attributes& attributes, const Shape& scores);
/// Checks that input `i`, if there is one, has a weight for each of `classes` classes.
void expect_class_weights(Types inputs, std::size_t i, std::int64_t classes);
/// Returns input `i` of the call, which has the weights of the classes, or null if there is none.
const Operand* class_weights(const KernelCall& call, std::size_t i);

/// Fills `labels` with each of the `classes` classes in turn, except the class that is ignored.
void fill_labels(const Attributes& attributes, const Operand& labels, std::int64_t classes);
/// Fills the labels of the inputs (scores [N,C,...], labels), and serves as Op::make_valid.
void fill_labels_of_scores(const Attributes& attributes, std::span<const Operand> inputs);

/// Returns the range of the labels, and serves as Op::index_ranges of losses whose inputs are
/// (scores [N,C,...], labels).
std::vector<IndexRange> ranges_of_labels(const Attributes& attributes, Types inputs);

/// A ClassLabels has the labels of one kernel call. Label i belongs to line i of the scores along
/// the axis of the classes.
class ClassLabels {
 public:
  /// Makes the labels for scores of the shape `scores`. If `weights` is null, all classes weigh 1.
  /// @throws Error invalid_data for a label that is neither a class nor ignored, such as "label 12
  /// at sample 3: expected 0 to 9".
  ClassLabels(const Attributes& attributes, const Operand& labels, const Shape& scores,
              const Operand* weights = nullptr);

  std::int64_t size() const { return lines_.outer * lines_.inner; }
  std::int64_t classes() const { return lines_.length; }
  bool ignored(std::int64_t i) const { return labels_[i] == ignore_index_; }
  const std::int64_t* data() const { return labels_; }
  std::int64_t ignore_index() const { return ignore_index_; }
  /// Returns the sum of the weights of the labels that are not ignored.
  double counted() const { return counted_; }
  /// Returns the weight of class `c`.
  double weight(std::int64_t c) const { return weights_ ? static_cast<double>(weights_[c]) : 1; }
  /// Returns the weight of the class that is label `i`.
  double target_weight(std::int64_t i) const { return weight(labels_[i]); }

  /// Returns the index of the score of class `c` for label `i`, in a tensor of the scores' shape.
  std::int64_t at(std::int64_t i, std::int64_t c) const {
    return (i / lines_.inner * lines_.length + c) * lines_.inner + i % lines_.inner;
  }
  /// Returns the index of the score of the class that is label `i`.
  std::int64_t target(std::int64_t i) const { return at(i, labels_[i]); }

 private:
  void check(std::int64_t i) const;

  Lines lines_;
  const std::int64_t* labels_;
  std::int64_t ignore_index_;
  const float* weights_;
  double counted_ = 0;
};

/// Writes a loss whose term for label i is `term(i)`. An ignored label has the term 0 and does not
/// count in the mean. If all labels are ignored, the mean is NaN.
template <class Term>
void write_loss(const Attributes& attributes, const Operand& loss, const ClassLabels& labels,
                Term term) {
  float* out = loss.f32().data();
  const LossForm form = loss_form(attributes);
  double sum = 0;
  for (std::int64_t i = 0; i < labels.size(); ++i) {
    const double value = labels.ignored(i) ? 0.0 : term(i);
    if (form == LossForm::each) out[i] = static_cast<float>(value);
    sum += value;
  }
  if (form != LossForm::each) *out = mean_or_sum(form, sum, labels.counted());
}

}  // namespace penstock::graph
