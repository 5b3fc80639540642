// 2.2 and F4 of docs/reference.md: these tests check what the form of a loss does to training,
// through the library as a host gets it.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "penstock/penstock.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::same_bits;
using testing::uniform;

constexpr std::int64_t rows = 8, classes = 4;

/// A MakeLoss makes a loss of the outputs y [N,4] of a linear layer, labels [N] and targets [N,4].
using MakeLoss = std::function<Value(Model&, Value y, Value labels, Value target)>;

Tensor between() {
  return uniform({rows, classes}, 2, 0.1, 0.9);
}

Tensor signs() {
  return testing::signs_of(testing::spread({rows, classes}, 4));
}

/// Returns how one step of plain descent changes the layer's weight.
std::vector<double> change(const MakeLoss& make_loss, int batch = rows,
                           const Tensor& targets = between()) {
  Model model("m", 3);
  const Value x = model.input("x", {5});
  const Value target = model.input("target", {classes}), labels = model.labels();
  const Value y = model.linear("fc", x, classes);
  const Value loss = make_loss(model, y, labels, target);
  // This output keeps every input in use, whatever the loss reads.
  model.output("used", model.cross_entropy(target, labels));
  model.loss(loss);
  const Tensor before = model.weight("fc.weight");
  Options options{.batch_size = batch};
  options.training.gradient_accumulation = static_cast<int>(rows / batch);
  TrainingModel training(model, options, Sgd{.learning_rate = 0.5});
  training.step({uniform({rows, 5}, 1), targets, testing::labels({rows}, 3, classes)});
  const Tensor after = model.weight("fc.weight");
  std::vector<double> result;
  for (std::size_t i = 0; i < before.as<float>().size(); ++i)
    result.push_back(static_cast<double>(after.as<float>()[i]) - before.as<float>()[i]);
  return result;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  bool moved = false;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 2e-6) << i;
    moved = moved || std::abs(expected[i]) > 1e-4;
  }
  EXPECT_TRUE(moved);
}

Value cross_entropy(Model& m, Value y, Value labels, Value) {
  return m.cross_entropy(y, labels);
}
Value difference(Model& m, Value y, Value, Value target) {
  return m.mse_loss(y, target);
}

// F4 of docs/reference.md: losses before the final one are plain reductions.
TEST(UpstreamLosses, HaveTheGradientsOfWhatWasMadeOfThem) {
  const auto a = change(cross_entropy), b = change(difference);
  std::vector<double> expected;
  for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(a[i] + 0.25 * b[i]);
  expect_near(change([](Model& m, Value y, Value labels, Value target) {
                const Value small = m.scale(m.mse_loss(y, target), 0.25);
                return m.identity_loss(m.add(m.cross_entropy(y, labels), small));
              }),
              expected);
}

// 2.2 of docs/reference.md: the gradient of identity_loss is 1/numel for "mean", and 1 for "sum"
// and "none".
TEST(IdentityLoss, DividesByTheNumberOfElementsForTheMeanOnly) {
  const auto reduced = [](LossReduction reduction) {
    return change([=](Model& m, Value y, Value, Value target) {
      return m.identity_loss(m.scale(m.mul(y, target), 0.01), reduction);
    });
  };
  const auto sum = reduced(LossReduction::sum);
  EXPECT_EQ(sum, reduced(LossReduction::none));
  std::vector<double> mean;
  for (const double value : sum) mean.push_back(value / (rows * classes));
  expect_near(reduced(LossReduction::mean), mean);
}

// 2.2 of docs/reference.md: without reduction, the gradient of every term begins with 1.
TEST(Losses, WithoutReductionTrainOnTheSum) {
  const auto reduced = [](LossReduction reduction) {
    return change([=](Model& m, Value y, Value, Value target) {
      return m.scale(m.smooth_l1_loss(y, target, {.reduction = reduction}), 0.125);
    });
  };
  expect_near(reduced(LossReduction::none), reduced(LossReduction::sum));
}

// 2.1 of docs/reference.md: the loss's reduction is over a micro-batch. The reduction of the
// gradients is over the micro-batches of a window.
TEST(Losses, R2_1_OfSumsGiveTheMeanOfTheSumsOfMicroBatches) {
  const auto summed = [](int batch) {
    return change(
        [](Model& m, Value y, Value, Value target) {
          return m.scale(m.mse_loss(y, target, LossReduction::sum), 0.125);
        },
        batch);
  };
  std::vector<double> quarter = summed(rows);
  for (double& value : quarter) value /= 4;
  expect_near(summed(rows / 4), quarter);
}

// F4 of docs/reference.md: a loss need not be named if there is only one.
TEST(Losses, AreFoundWhereThereIsOne) {
  const auto step = [](bool named) {
    Model model("m", 3);
    const Value y = model.linear("fc", model.input("x", {5}), classes);
    const Value loss = model.cross_entropy(y, model.labels());
    if (named) model.loss(loss);
    TrainingModel training(model, {.batch_size = rows}, {});
    training.step({uniform({rows, 5}, 1), testing::labels({rows}, 3, classes)});
    return model.weight("fc.weight");
  };
  EXPECT_TRUE(same_bits(step(true), step(false)));
}

struct Named {
  const char* name;
  MakeLoss make_loss;
  Tensor (*targets)() = between;
};

const Named losses[] = {
    {"cross_entropy", cross_entropy},
    {"mse_loss", difference},
    {"of_probabilities",
     [](Model& m, Value y, Value labels, Value) {
       return m.cross_entropy(m.softmax(y), labels, {.from_logits = false});
     }},
    {"nll_loss",
     [](Model& m, Value y, Value labels, Value) { return m.nll_loss(m.log_softmax(y), labels); }},
    {"l1_loss", [](Model& m, Value y, Value, Value t) { return m.l1_loss(y, t); }},
    {"smooth_l1_loss", [](Model& m, Value y, Value, Value t) { return m.smooth_l1_loss(y, t); }},
    {"binary_cross_entropy",
     [](Model& m, Value y, Value, Value t) { return m.binary_cross_entropy(m.sigmoid(y), t); }},
    {"binary_cross_entropy_with_logits",
     [](Model& m, Value y, Value, Value t) { return m.binary_cross_entropy_with_logits(y, t); }},
    {"kl_div_loss",
     [](Model& m, Value y, Value, Value t) { return m.kl_div_loss(m.log_softmax(y), t); }},
    {"poisson_nll_loss",
     [](Model& m, Value y, Value, Value t) { return m.poisson_nll_loss(y, t); }},
    {"hinge_embedding_loss",
     [](Model& m, Value y, Value, Value t) { return m.hinge_embedding_loss(m.sigmoid(y), t); },
     signs},
    {"soft_margin_loss", [](Model& m, Value y, Value, Value t) { return m.soft_margin_loss(y, t); },
     signs},
    {"multilabel_soft_margin_loss",
     [](Model& m, Value y, Value, Value t) { return m.multilabel_soft_margin_loss(y, t); }},
    {"cosine_embedding_loss",
     [](Model& m, Value y, Value, Value t) {
       const Value near = m.reshape(m.slice(t, 1, 0, 1), {});
       return m.cosine_embedding_loss(y, t, near);
     },
     signs},
    {"margin_ranking_loss",
     [](Model& m, Value y, Value, Value t) {
       return m.margin_ranking_loss(y, m.scale(y, -1), t, {.margin = 5});
     },
     signs},
    {"triplet_margin_loss",
     [](Model& m, Value y, Value, Value t) {
       return m.triplet_margin_loss(y, t, m.scale(t, -1), {.margin = 5});
     }},
};

class EveryLoss : public ::testing::TestWithParam<Named> {};

// 2.2 of docs/reference.md: the mean over micro-batches of equal size is the mean over the batch.
TEST_P(EveryLoss, TrainsAlikeOnAnyNumberOfMicroBatches) {
  const auto& [name, make_loss, targets] = GetParam();
  expect_near(change(make_loss, 2, targets()), change(make_loss, rows, targets()));
}

TEST(BinaryCrossEntropy, FailsTheStepWithoutProbabilitiesAndNamesTheSample) {
  Model model("m", 3);
  const Value x = model.input("x", {1});
  model.loss(model.binary_cross_entropy(model.linear("fc", x, 1, false), model.input("t", {1})));
  const Tensor weight({1, 1}, {1.0f});
  model.set_weight("fc.weight", weight);
  TrainingModel training(model, {.batch_size = 4}, Sgd{.learning_rate = 1});
  const auto text = testing::refusal(Errc::stage_failed, [&] {
    training.step({Tensor({4, 1}, {0.0f, 1.0f, 1.5f, 0.5f}), Tensor::zeros(DType::f32, {4, 1})});
  });
  EXPECT_NE(text.find("binary_cross_entropy \""), std::string::npos) << text;
  EXPECT_NE(text.find("x 1.5 at sample 2: expected 0 to 1"), std::string::npos) << text;
  EXPECT_TRUE(same_bits(model.weight("fc.weight"), weight));
}

TEST(CtcLoss, LearnsToSpell) {
  constexpr std::int64_t steps = 6;
  Model model("m", 3);
  const Value y = model.linear("fc", model.input("x", {5}), steps * classes);
  const Value scores = model.log_softmax(model.reshape(y, {steps, classes}), 2);
  const Value spelled = model.input("spelled", {3}, DType::i64);
  const Value lengths = model.labels("lengths"), counts = model.labels("counts");
  model.loss(model.ctc_loss(scores, spelled, lengths, counts));
  TrainingModel training(model, {.batch_size = 2}, AdamW{.learning_rate = 0.05});
  const std::vector<std::int64_t> letters{1, 1, 2, 3, 2, 0}, of_steps{6, 5}, of_letters{3, 2};
  const std::vector<Tensor> batch{uniform({2, 5}, 1), Tensor({2, 3}, std::span(letters)),
                                  Tensor({2}, std::span(of_steps)),
                                  Tensor({2}, std::span(of_letters))};
  const float first = training.step(batch).loss.item();
  for (int i = 0; i < 60; ++i) training.step(batch);
  EXPECT_LT(training.step(batch).loss.item(), 0.2f * first);
}

INSTANTIATE_TEST_SUITE_P(Losses, EveryLoss, ::testing::ValuesIn(losses),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace penstock
