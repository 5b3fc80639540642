// The attribute `reduction` says how a loss becomes a number: "mean" (the default), "sum" or
// "none".
#pragma once

#include "graph/ir/op.hpp"
#include "graph/kernels/vectors/operands.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr TextAttribute reduction{"reduction", "mean"};

}  // namespace attribute

enum class LossForm : std::uint8_t { mean, sum, each };

/// Returns the form that the attribute `reduction` asks for. @throws Error invalid_argument if the
/// attribute is none of the three texts "mean", "sum" and "none".
LossForm loss_form(const Attributes& attributes);
/// Returns a loss that is one number: `sum`, the sum of the terms, or the mean of these terms,
/// which is the sum divided by `count`, the number of terms or the sum of their weights.
float mean_or_sum(LossForm form, double sum, double count);
inline float mean_or_sum(LossForm form, double sum, std::int64_t count) {
  return mean_or_sum(form, sum, static_cast<double>(count));
}
/// Returns the type of a loss whose terms have the shape `terms`: one number or, without reduction,
/// all terms.
TensorType loss_type(const Attributes& attributes, const Shape& terms);
/// Returns the shape of the terms of a loss that has one term for each row of its first input.
Shape row_terms(Types inputs);
/// Checks the type of `dloss`, the gradient of a loss whose terms have the shape `terms`. `dloss`
/// is an input of a gradient op.
void expect_loss_gradient(const Attributes& attributes, const TensorType& dloss,
                          const Shape& terms);

/// A TermGradients has the gradient of each term of a loss, computed from `dloss`, the gradient of
/// the loss. If the loss is a mean, the gradients are divided by `count`, the number of terms or
/// the sum of their weights.
class TermGradients {
 public:
  TermGradients(const Attributes& attributes, const Operand& dloss, double count);
  TermGradients(const Attributes& attributes, const Operand& dloss, std::int64_t count)
      : TermGradients(attributes, dloss, static_cast<double>(count)) {}
  float operator[](std::int64_t term) const { return each_ ? each_[term] : all_; }
  /// Returns the gradients in the form that kernels take. The result may point into this object.
  RowOperand row() const { return {each_ ? each_ : &all_, each_ == nullptr}; }

 private:
  const float* each_ = nullptr;
  float all_ = 0;
};

/// Checks that the first inputs, which are called `names`, are f32 [N,D] of one shape and not
/// empty.
void expect_rows(Types inputs, std::span<const std::string_view> names);

/// Writes the mean or the sum of `terms` to `loss`. Does nothing without reduction: `terms` are the
/// loss then, and terms_of() has returned the memory of the loss for them.
void reduce_terms(const Attributes& attributes, std::span<const float> terms, const Operand& loss);
/// Returns the memory in which the `count` terms of a loss are to be computed: output 0 without
/// reduction, and otherwise the workspace.
std::span<float> terms_of(const KernelCall& call, std::int64_t count);
/// Serves as Op::workspace of a loss that uses terms_of(), with a term for each row of input 0.
std::int64_t terms_workspace(const Attributes& attributes, Types inputs, Types outputs);

}  // namespace penstock::graph
