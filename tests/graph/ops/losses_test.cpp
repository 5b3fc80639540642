#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/ops/list.hpp"
#include "penstock/error.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/tape.hpp"

namespace penstock::graph {
namespace {

using testing::OpCall;
using testing::run;
using testing::Tape;

Tensor labels_of(const Shape& shape, std::vector<std::int64_t> values) {
  return {shape, std::span<const std::int64_t>(values)};
}

struct BadLabel {
  Shape scores;
  Shape labels;
  std::int64_t label;  ///< This is the last label. All other labels are 0.
  std::string text;
};

TEST(Losses, NameALabelThatIsNoClass) {
  const BadLabel table[] = {
      {{4, 10}, {4}, 12, "label 12 at sample 3: expected 0 to 9"},
      {{4, 10}, {4}, 10, "label 10 at sample 3: expected 0 to 9"},
      {{1, 3}, {1}, -1, "label -1 at sample 0: expected 0 to 2"},
      {{2, 3, 5}, {2, 5}, 3, "label 3 at sample 1: expected 0 to 2"},
  };
  for (const BadLabel& bad : table)
    for (const std::string_view op : {"nll_loss", "cross_entropy"}) {
      std::vector<std::int64_t> values(static_cast<std::size_t>(bad.labels.elements()), 0);
      values.back() = bad.label;
      try {
        run({.op = &find_op(op),
             .inputs = {Tensor::zeros(DType::f32, bad.scores), labels_of(bad.labels, values)}});
        FAIL() << op << " accepted " << bad.text;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_data);
        EXPECT_EQ(error.what(), bad.text);
      }
    }
}

// F3 of docs/reference.md: a label equal to ignore_index counts neither in the mean nor in its
// gradient.
TEST(Losses, LeaveIgnoredLabelsOutOfTheMean) {
  const Tensor x = testing::uniform({4, 3}, 1);
  for (const std::string_view op : {"nll_loss", "cross_entropy"}) {
    Tape all, two;
    const ValueId x_all = all.leaf(x), x_two = two.leaf(x.rows(0, 2));
    const auto loss_all =
        all.apply(find_op(op), {x_all, all.leaf(labels_of({4}, {2, 0, -100, -100}))})[0];
    const auto loss_two = two.apply(find_op(op), {x_two, two.leaf(labels_of({2}, {2, 0}))})[0];
    EXPECT_EQ(all[loss_all].item(), two[loss_two].item()) << op;

    all.backward(loss_all, Tensor({}, {1.0f}));
    two.backward(loss_two, Tensor({}, {1.0f}));
    EXPECT_TRUE(testing::same_bits(all.gradient(x_all).rows(0, 2), two.gradient(x_two))) << op;
    const Tensor ignored = all.gradient(x_all).rows(2, 4);
    for (const float value : ignored.as<float>()) EXPECT_EQ(value, 0) << op;
  }
}

TEST(Losses, AreNotANumberWhenEveryLabelIsIgnored) {
  for (const std::string_view op : {"nll_loss", "cross_entropy"}) {
    const auto loss = run({.op = &find_op(op),
                           .attributes = {{"ignore_index", std::int64_t{1}}},
                           .inputs = {testing::uniform({2, 3}, 1), labels_of({2}, {1, 1})}})[0];
    EXPECT_TRUE(std::isnan(loss.item())) << op;
  }
}

// Where both inputs are equal, the slope of smooth_l1_loss with a beta of 0 is 0 here. In PyTorch
// this slope is -1, although the slope of l1_loss is 0.
TEST(Losses, R2_2_OfSmoothL1WithoutAParabolaHaveNoSlopeWhereBothAreEqual) {
  Tape tape;
  const ValueId x = tape.leaf(Tensor({4}, {2.0f, -0.0f, 3.0f, 1.0f}));
  const ValueId target = tape.leaf(Tensor({4}, {2.0f, 0.0f, 1.0f, 3.0f}));
  const ValueId loss =
      tape.apply(find_op("smooth_l1_loss"), {x, target}, {{"beta", 0.0}, {"reduction", "sum"}})[0];
  tape.backward(loss, Tensor({}, {1.0f}));
  EXPECT_EQ(tape[loss].item(), 4.0f);
  EXPECT_TRUE(testing::same_bits(tape.gradient(x), Tensor({4}, {0.0f, 0.0f, 1.0f, -1.0f})));
}

TEST(Losses, AreTheirTermsReduced) {
  const Tensor x = testing::uniform({40, 3}, 1), y = testing::uniform({40, 3}, 2);
  const Tensor labels = testing::labels({40}, 3, 3), p = testing::uniform({40, 3}, 4, 0, 1);
  const Tensor signs = testing::signs_of(testing::spread({40}, 5));
  const std::vector<std::pair<std::string_view, std::vector<Tensor>>> losses = {
      {"nll_loss", {x, labels}},
      {"cross_entropy", {x, labels}},
      {"mse_loss", {x, y}},
      {"l1_loss", {x, y}},
      {"identity_loss", {x}},
      {"smooth_l1_loss", {x, y}},
      {"binary_cross_entropy_with_logits", {x, y}},
      {"kl_div_loss", {x, p}},
      {"poisson_nll_loss", {x, p}},
      {"hinge_embedding_loss", {x, y}},
      {"soft_margin_loss", {x, y}},
      {"multilabel_soft_margin_loss", {x, p}},
      {"cosine_embedding_loss", {x, y, signs}},
      {"margin_ranking_loss", {x, y, p}},
      {"triplet_margin_loss", {x, y, p}},
  };
  for (const auto& [op, inputs] : losses) {
    const auto loss = [&op = op, &inputs = inputs](const char* reduction) {
      return run(
          {.op = &find_op(op), .attributes = {{"reduction", reduction}}, .inputs = inputs})[0];
    };
    const Tensor terms = loss("none");
    double sum = 0;
    for (const float term : terms.as<float>()) sum += term;
    EXPECT_NEAR(loss("sum").item(), sum, 1e-4) << op;
    EXPECT_NEAR(loss("mean").item(), sum / static_cast<double>(terms.elements()), 1e-6) << op;
  }
}

// F5 of docs/reference.md: Keras clips probabilities to [1e-7, 1 - 1e-7] before it takes their
// logarithm.
TEST(CrossEntropy, OfClippedProbabilitiesIsFinite) {
  Tape tape;
  const ValueId p = tape.leaf({{2, 2}, {0.0f, 1.0f, 0.25f, 0.75f}});
  const auto logits = tape.apply(find_op("clipped_log"), {p});
  const auto terms =
      tape.apply(find_op("cross_entropy"), {logits[0], tape.leaf(labels_of({2}, {0, 0}))},
                 {{"reduction", "none"}});
  EXPECT_NEAR(tape[terms[0]].as<float>()[0], -std::log(1e-7), 1e-5);
  EXPECT_NEAR(tape[terms[0]].as<float>()[1], -std::log(0.25), 1e-6);
  tape.backward(terms[0], Tensor({2}, {1.0f, 1.0f}));
  EXPECT_EQ(tape.gradient(p).as<float>()[0], 0) << "no gradient through what was clipped";
  EXPECT_NEAR(tape.gradient(p).as<float>()[2], (0.25 - 1) / 0.25, 1e-5);
}

TEST(BinaryCrossEntropy, IsFiniteAtCertainty) {
  Tape tape;
  const ValueId x = tape.leaf({{4}, {0.0f, 1.0f, 0.0f, 1.0f}});
  const ValueId target = tape.leaf({{4}, {1.0f, 0.0f, 0.0f, 1.0f}});
  const auto terms =
      tape.apply(find_op("binary_cross_entropy"), {x, target}, {{"reduction", "none"}})[0];
  const auto values = tape[terms].as<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), (std::vector<float>{100, 100, 0, 0}));
}

TEST(BinaryCrossEntropy, NamesWhatIsNoProbability) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [value, text] : std::initializer_list<std::pair<float, std::string>>{
           {1.5f, "x 1.5"}, {-0.25f, "x -0.25"}, {nan, "x nan"}}) {
    const OpCall call{.op = &find_op("binary_cross_entropy"),
                      .inputs = {Tensor({3, 2}, {0.5f, 0.5f, 1.0f, 0.0f, value, 0.5f}),
                                 Tensor::zeros(DType::f32, {3, 2})}};
    const std::string said = testing::refusal(Errc::invalid_data, [&] { run(call); });
    EXPECT_EQ(said, text +
                        " at sample 2: expected 0 to 1; binary_cross_entropy_with_logits takes any "
                        "number");
  }
}

TEST(BinaryCrossEntropy, WithLogitsIsFiniteHoweverLargeTheyAre) {
  const auto terms = run({.op = &find_op("binary_cross_entropy_with_logits"),
                          .attributes = {{"reduction", "none"}},
                          .inputs = {Tensor({4}, {1000.0f, -1000.0f, 1000.0f, -1000.0f}),
                                     Tensor({4}, {0.0f, 1.0f, 1.0f, 0.0f})}})[0];
  const auto values = terms.as<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
            (std::vector<float>{1000, 1000, 0, 0}));
}

OpCall spelling(std::vector<std::int64_t> labels, std::int64_t steps, std::int64_t count) {
  return {.op = &find_op("ctc_loss"),
          .attributes = {{"blank", std::int64_t{2}}},
          .inputs = {testing::uniform({1, 3, 4}, 1), labels_of({1, 2}, std::move(labels)),
                     labels_of({1}, {steps}), labels_of({1}, {count})}};
}

TEST(Ctc, NamesWhatIsOutOfRange) {
  struct Refused {
    OpCall call;
    const char* text;
  };
  const Refused table[] = {
      {spelling({0, 4}, 3, 2), "label 4 at sample 0: expected 0 to 3 without the blank, 2"},
      {spelling({0, 2}, 3, 2), "label 2 at sample 0: expected 0 to 3 without the blank, 2"},
      {spelling({0, 1}, 4, 2), "length 4 at sample 0: expected 0 to 3"},
      {spelling({0, 1}, -1, 2), "length -1 at sample 0: expected 0 to 3"},
      {spelling({0, 1}, 3, 3), "number of labels 3 at sample 0: expected 0 to 2"},
  };
  for (const Refused& refused : table) try {
      run(refused.call);
      FAIL() << "accepted what is refused with " << refused.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::invalid_data);
      EXPECT_STREQ(error.what(), refused.text);
    }
  EXPECT_TRUE(std::isfinite(run(spelling({0, 4}, 3, 1))[0].item())) << "labels that do not count";
}

TEST(Ctc, IsInfiniteWhereNothingSpellsTheLabels) {
  OpCall call = spelling({1, 1}, 2, 2);
  EXPECT_EQ(run(call)[0].item(), HUGE_VALF) << "a repeated label needs a blank between";
  call.attributes.set("zero_infinity", std::int64_t{1});
  EXPECT_EQ(run(call)[0].item(), 0);
}

TEST(CrossEntropy, GivesLogProbabilitiesThatMayBeTrainedOnToo) {
  const Tensor x = testing::uniform({4, 3}, 1), labels = testing::labels({4}, 2, 3);
  const Tensor one({}, {1.0f}), weights = testing::uniform({4, 3}, 3);
  Tape fused, apart;
  const ValueId fused_x = fused.leaf(x), apart_x = apart.leaf(x);
  const auto both = fused.apply(find_op("cross_entropy"), {fused_x, fused.leaf(labels)});
  const auto weighted = fused.apply(find_op("mul"), {both[1], fused.leaf(weights)})[0];
  const auto total = fused.apply(find_op("identity_loss"), {weighted})[0];
  fused.backward(fused.apply(find_op("add"), {both[0], total})[0], one);

  const auto scores = apart.apply(find_op("log_softmax"), {apart_x})[0];
  const auto nll = apart.apply(find_op("nll_loss"), {scores, apart.leaf(labels)})[0];
  const auto product = apart.apply(find_op("mul"), {scores, apart.leaf(weights)})[0];
  const auto mean = apart.apply(find_op("identity_loss"), {product})[0];
  apart.backward(apart.apply(find_op("add"), {nll, mean})[0], one);

  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_NEAR(fused.gradient(fused_x).as<float>()[i], apart.gradient(apart_x).as<float>()[i],
                1e-6);
}

TEST(Losses, SumAMillionTermsToFullPrecision) {
  const std::vector<float> tenths(1 << 20, 0.1f);
  const auto loss = run({.op = &find_op("identity_loss"),
                         .attributes = {{"reduction", "sum"}},
                         .inputs = {Tensor({1 << 20}, std::span<const float>(tenths))}})[0];
  EXPECT_FLOAT_EQ(loss.item(), (1 << 20) * 0.1f);
}

}  // namespace
}  // namespace penstock::graph
