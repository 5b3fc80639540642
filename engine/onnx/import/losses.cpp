// The losses, which are layers of Model.
#include <array>

#include "engine/onnx/import/operators.hpp"
#include "graph/ops/activations/softmax.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"

namespace penstock {
namespace {

LossReduction reduction_of(const NodeImport& n) {
  const std::string name = n.text("reduction", "mean");
  return name == "sum"    ? LossReduction::sum
         : name == "none" ? LossReduction::none
                          : LossReduction::mean;
}

/// A number that no label is stands for the lack of ignore_index.
constexpr std::int64_t no_label = -100;

void expect_samples(const NodeImport& n) {
  for (const std::size_t i : {0, 1})
    if (!n.input(i).placement || !n.input(i).placement->is_first())
      throw MixedSamples{"axis 0 of its scores or labels does not count samples"};
}

Imported loss_of(NodeImport& n, const Value& loss) {
  std::optional<Placement> placement;
  if (reduction_of(n) == LossReduction::none) placement = Placement{};
  return n.result(loss, n.input(0).type, placement);
}

Results softmax_cross_entropy(NodeImport& n) {
  expect_samples(n);
  const Value scores = n.value(0);
  Model& model = n.network.model();
  const Value loss = model.cross_entropy(scores, n.network.integers(n.input(1)),
                                         {.reduction = reduction_of(n),
                                          .ignore_index = n.integer("ignore_index", no_label),
                                          .weight = n.has(2) ? n.raw(2) : Value()});
  Results results{loss_of(n, loss)};
  if (n.wants(1))
    results.push_back(
        n.like_first(n.apply(graph::log_softmax, {scores}, {{"axis", std::int64_t{1}}})));
  return results;
}

Results negative_log_likelihood(NodeImport& n) {
  expect_samples(n);
  const Value loss = n.network.model().nll_loss(
      n.value(0), n.network.integers(n.input(1)), reduction_of(n),
      n.integer("ignore_index", no_label), 1, n.has(2) ? n.raw(2) : Value());
  return {loss_of(n, loss)};
}

}  // namespace

std::span<const OnnxOperator> loss_operators() {
  static constexpr std::array<OnnxOperator, 2> operators{{
      {"NegativeLogLikelihoodLoss", negative_log_likelihood},
      {"SoftmaxCrossEntropyLoss", softmax_cross_entropy},
  }};
  return operators;
}

}  // namespace penstock
