// These tests compare losses that have a hinge, exactly at the hinge, with the terms and gradients
// of PyTorch 1.13.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "tests/support/tape.hpp"

namespace penstock::graph {
namespace {

using Floats = std::vector<float>;

/// A Tie has a call of a loss without reduction, its terms, and its inputs' gradients if each term
/// has the gradient 1.
struct Tie {
  std::string name;
  Attributes attributes;
  std::vector<Tensor> inputs;
  Floats terms;
  std::vector<Floats> gradients;  ///< These are the gradients of the leading inputs.
};

Floats floats(const Tensor& tensor) {
  return {tensor.as<float>().begin(), tensor.as<float>().end()};
}

void expect_near(const Floats& actual, const Floats& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 1e-6) << what << ", element " << i;
}

void expect_pytorchs(const Tie& tie) {
  testing::Tape tape;
  std::vector<ValueId> inputs;
  for (const Tensor& input : tie.inputs) inputs.push_back(tape.leaf(input));
  Attributes attributes = tie.attributes;
  attributes.set("reduction", "none");
  const ValueId loss = tape.apply(find_op(tie.name), inputs, attributes)[0];
  const Floats ones(tie.terms.size(), 1);
  tape.backward(loss, Tensor(tape[loss].shape(), std::span<const float>(ones)));
  expect_near(floats(tape[loss]), tie.terms, tie.name + ", terms");
  for (std::size_t i = 0; i < tie.gradients.size(); ++i)
    expect_near(floats(tape.gradient(inputs[i])), tie.gradients[i],
                tie.name + ", gradient " + std::to_string(i));
}

TEST(Hinges, LetTheGradientOfARankingThroughAtTheMargin) {
  const Tensor equal({4}, {2.0f, 2.0f, 1.0f, 3.0f}), target({4}, {1.0f, -1.0f, 1.0f, -1.0f});
  expect_pytorchs({"margin_ranking_loss",
                   {},
                   {equal, equal, target},
                   {0, 0, 0, 0},
                   {{-1, 1, -1, 1}, {1, -1, 1, -1}}});
  expect_pytorchs(
      {"margin_ranking_loss",
       {{"margin", 0.5}},
       {Tensor({2}, {2.0f, 1.5f}), Tensor({2}, {1.5f, 2.0f}), Tensor({2}, {1.0f, -1.0f})},
       {0, 0},
       {{-1, 1}, {1, -1}}});
}

TEST(Hinges, LetTheGradientOfAHingeEmbeddingThroughAtTheMargin) {
  expect_pytorchs({"hinge_embedding_loss",
                   {},
                   {Tensor({5}, {1.0f, 2.0f, 0.5f, 1.0f, 0.0f}),
                    Tensor({5}, {-1.0f, -1.0f, -1.0f, 1.0f, 1.0f})},
                   {0, 0, 0.5, 1, 0},
                   {{-1, 0, -1, 1, 1}}});
}

TEST(Hinges, KeepTheGradientOfClassesAtTheMargin) {
  const std::vector<std::int64_t> label{0}, labels{0, -1, 2};
  const Tensor x({1, 3}, {2.0f, 1.0f, 1.5f});
  expect_pytorchs({"multi_margin_loss",
                   {},
                   {x, Tensor({1}, std::span(label))},
                   {0.5f / 3},
                   {{-1 / 3.0f, 0, 1 / 3.0f}}});
  expect_pytorchs({"multilabel_margin_loss",
                   {},
                   {x, Tensor({1, 3}, std::span(labels))},
                   {0.5f / 3},
                   {{-1 / 3.0f, 0, 1 / 3.0f}}});
}

TEST(Hinges, LetTheGradientOfACosineThroughAtTheMargin) {
  expect_pytorchs(
      {"cosine_embedding_loss",
       {},
       {Tensor({3, 2}, {3.0f, 4.0f, 1.0f, 1.0f, 1.0f, 0.0f}),
        Tensor({3, 2}, {4.0f, -3.0f, 1.0f, -1.0f, 0.0f, 2.0f}), Tensor({3}, {-1.0f, -1.0f, -1.0f})},
       {0, 0, 0},
       {{0.16f, -0.12f, 0.5f, -0.5f, 0, 1}, {0.12f, 0.16f, 0.5f, 0.5f, 0.5f, 0}}});
}

// For hinge_embedding_loss, PyTorch computes where(t != 1, clamp_min(margin - x, 0), 0) +
// where(t != -1, x, 0), and for cosine_embedding_loss where(t == 1, 1 - cos, 0) +
// where(t == -1, clamp_min(cos - margin, 0), 0).
TEST(Hinges, R2_2_OfTargetsThatAreNoSignAreWhatPyTorchMakesOfThem) {
  expect_pytorchs({"hinge_embedding_loss",
                   {},
                   {Tensor({6}, {0.25f, 0.25f, 3.0f, 3.0f, -2.0f, -2.0f}),
                    Tensor({6}, {0.5f, 0.0f, -0.5f, 2.0f, -2.0f, 1.0f})},
                   {1, 1, 3, 3, 1, -2},
                   {{0, 0, 1, 1, 0, 1}}});
  expect_pytorchs({"cosine_embedding_loss",
                   {},
                   {Tensor({4, 2}, {1.0f, 0.0f, 1.0f, 0.0f, 1.0f, 0.0f, 1.0f, 0.0f}),
                    Tensor({4, 2}, {1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0f, 1.0f}),
                    Tensor({4}, {0.5f, 0.0f, -2.0f, 1.0f})},
                   {0, 0, 0, 1},
                   {{0, 0, 0, 0, 0, 0, 0, -1}, {0, 0, 0, 0, 0, 0, -1, 0}}});
}

TEST(Hinges, LetTheGradientOfATripletThroughAtTheMargin) {
  const Tensor anchor({1, 2}, {0.0f, 0.0f}), near({1, 2}, {3.0f, 4.0f}), far({1, 2}, {6.0f, 8.0f});
  expect_pytorchs({"triplet_margin_loss",
                   {{"margin", 5.0}, {"eps", 0.0}},
                   {anchor, near, far},
                   {0},
                   {{0, 0}, {0.6f, 0.8f}, {-0.6f, -0.8f}}});
  expect_pytorchs({"triplet_margin_loss",
                   {{"margin", 7.0}, {"p", 1}, {"eps", 0.0}},
                   {anchor, near, far},
                   {0},
                   {{0, 0}, {1, 1}, {-1, -1}}});
}

// A term with a NaN in its inputs is NaN, as in PyTorch. It is not 0, as a term beyond the margin
// is.
TEST(Hinges, AreNotClosedToWhatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor bad({1, 2}, {nan, 1.0f}), good({1, 2}, {1.0f, 2.0f});
  const auto term = [](const std::string& loss, const std::vector<Tensor>& inputs,
                       Attributes attributes = {}) {
    testing::Tape tape;
    std::vector<ValueId> ids;
    for (const Tensor& input : inputs) ids.push_back(tape.leaf(input));
    attributes.set("reduction", "none");
    return tape[tape.apply(find_op(loss), ids, attributes)[0]].as<float>()[0];
  };
  const Tensor minus_one({1}, {-1.0f}), minus_ones({1, 2}, {-1.0f, -1.0f});
  EXPECT_TRUE(std::isnan(term("hinge_embedding_loss", {bad, minus_ones})));
  EXPECT_TRUE(std::isnan(term("margin_ranking_loss", {bad, good, minus_ones})));
  EXPECT_TRUE(std::isnan(term("cosine_embedding_loss", {bad, good, minus_one})));
  EXPECT_TRUE(std::isnan(term("triplet_margin_loss", {bad, good, good})));
  EXPECT_TRUE(std::isnan(term("triplet_margin_loss", {good, good, bad})));
  EXPECT_TRUE(std::isnan(term("triplet_margin_loss", {good, bad, good}, {{"swap", 1}})));
}

// If `far` is as far from the anchor as from `near`, each of the two distances has half of the
// gradient.
TEST(Hinges, ShareATripletsGradientBetweenEqualDistances) {
  expect_pytorchs(
      {"triplet_margin_loss",
       {{"margin", 10.0}, {"swap", 1}, {"eps", 0.0}},
       {Tensor({1, 2}, {0.0f, 0.0f}), Tensor({1, 2}, {6.0f, 0.0f}), Tensor({1, 2}, {3.0f, 4.0f})},
       {11},
       {{-0.7f, 0.4f}, {0.7f, 0.4f}, {0, -0.8f}}});
}

}  // namespace
}  // namespace penstock::graph
