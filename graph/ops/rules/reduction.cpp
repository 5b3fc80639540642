#include "graph/ops/rules/reduction.hpp"

#include <string>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {

LossForm loss_form(const Attributes& attributes) {
  const std::string_view text = attribute::reduction.of(attributes);
  if (text == "mean") return LossForm::mean;
  if (text == "sum") return LossForm::sum;
  if (text == "none") return LossForm::each;
  throw Error(Errc::invalid_argument, "expected reduction \"mean\", \"sum\" or \"none\", got \"" +
                                          std::string(text) + "\"");
}

float mean_or_sum(LossForm form, double sum, double count) {
  return static_cast<float>(form == LossForm::mean ? sum / count : sum);
}

TensorType loss_type(const Attributes& attributes, const Shape& terms) {
  return {DType::f32, loss_form(attributes) == LossForm::each ? terms : Shape{}};
}

Shape row_terms(Types inputs) {
  return {inputs[0].shape[0]};
}

void expect_loss_gradient(const Attributes& attributes, const TensorType& dloss,
                          const Shape& terms) {
  expect_dtype(dloss, DType::f32, "dloss");
  expect_shape(dloss, loss_type(attributes, terms).shape, "dloss");
}

TermGradients::TermGradients(const Attributes& attributes, const Operand& dloss, double count) {
  const float* gradient = dloss.f32().data();
  switch (loss_form(attributes)) {
    case LossForm::each:
      each_ = gradient;
      break;
    case LossForm::sum:
      all_ = *gradient;
      break;
    case LossForm::mean:
      all_ = static_cast<float>(*gradient / count);
      break;
  }
}

void expect_rows(Types inputs, std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    expect_dtype(inputs[i], DType::f32, names[i]);
    if (i == 0) expect_rank(inputs[i], 2, names[i]);
    expect_shape(inputs[i], inputs[0].shape, names[i]);
  }
  expect_elements(inputs[0], names[0]);
}

void reduce_terms(const Attributes& attributes, std::span<const float> terms, const Operand& loss) {
  const LossForm form = loss_form(attributes);
  if (form == LossForm::each) return;
  const std::int64_t count = std::ssize(terms);
  *loss.f32().data() = mean_or_sum(form, kernel_table().reductions.sum(count, terms.data()), count);
}

std::span<float> terms_of(const KernelCall& call, std::int64_t count) {
  const bool each = loss_form(call.attributes) == LossForm::each;
  return {each ? call.outputs[0].f32().data() : floats(call.workspace),
          static_cast<std::size_t>(count)};
}

std::int64_t terms_workspace(const Attributes& attributes, Types inputs, Types) {
  return loss_form(attributes) == LossForm::each ? 0 : inputs[0].shape[0] * float_bytes;
}

}  // namespace penstock::graph
