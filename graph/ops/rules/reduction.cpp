#include "graph/ops/rules/reduction.hpp"

#include <string>

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

float mean_or_sum(LossForm form, double sum, std::int64_t count) {
  return static_cast<float>(form == LossForm::mean ? sum / static_cast<double>(count) : sum);
}

TensorType loss_type(const Attributes& attributes, const Shape& terms) {
  return {DType::f32, loss_form(attributes) == LossForm::each ? terms : Shape{}};
}

void expect_loss_gradient(const Attributes& attributes, const TensorType& dloss,
                          const Shape& terms) {
  expect_dtype(dloss, DType::f32, "dloss");
  expect_shape(dloss, loss_type(attributes, terms).shape, "dloss");
}

TermGradients::TermGradients(const Attributes& attributes, const Operand& dloss,
                             std::int64_t count) {
  const float* gradient = dloss.f32().data();
  switch (loss_form(attributes)) {
    case LossForm::each:
      each_ = gradient;
      break;
    case LossForm::sum:
      all_ = *gradient;
      break;
    case LossForm::mean:
      all_ = static_cast<float>(*gradient / static_cast<double>(count));
      break;
  }
}

}  // namespace penstock::graph
