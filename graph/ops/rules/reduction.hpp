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

/// Returns the form that the attribute asks for. @throws Error invalid_argument if it is another
/// text.
LossForm loss_form(const Attributes& attributes);
/// Returns a loss that is one number, from the sum of its `count` terms.
float mean_or_sum(LossForm form, double sum, std::int64_t count);
/// Returns the type of a loss whose single terms have the shape `terms`.
TensorType loss_type(const Attributes& attributes, const Shape& terms);
/// Checks the shape of the gradient of such a loss, which is the input `dloss` of a gradient op.
void expect_loss_gradient(const Attributes& attributes, const TensorType& dloss,
                          const Shape& terms);

/// Has the gradients of a loss's terms, from the gradient of the loss; `count` terms make the mean.
class TermGradients {
 public:
  TermGradients(const Attributes& attributes, const Operand& dloss, std::int64_t count);
  float operator[](std::int64_t term) const { return each_ ? each_[term] : all_; }
  /// Returns the gradients for kernels. They live as long as this object.
  RowOperand row() const { return {each_ ? each_ : &all_, each_ == nullptr}; }

 private:
  const float* each_ = nullptr;
  float all_ = 0;
};

/// Checks that the first inputs, called `names`, are f32 [N,D] of one shape.
void expect_rows(Types inputs, std::span<const std::string_view> names);

/// Writes a loss from its terms, which are the loss itself without reduction.
void reduce_terms(const Attributes& attributes, std::span<const float> terms, const Operand& loss);
/// Returns the place in which such terms are computed: the loss itself without reduction, and else
/// the workspace.
std::span<float> terms_of(const KernelCall& call, std::int64_t count);
/// Serves as an op's `workspace`, with room for a term per row of input 0.
std::int64_t terms_workspace(const Attributes& attributes, Types inputs, Types outputs);

}  // namespace penstock::graph
