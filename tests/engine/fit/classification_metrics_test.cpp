#include "penstock/classification_metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/fit.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

Tensor labels(const std::vector<std::int64_t>& values) {
  return {Shape{static_cast<std::int64_t>(values.size())}, std::span<const std::int64_t>(values)};
}

StepResult returned(const Tensor& scores) {
  return {.outputs = {{"scores", scores}}};
}

Tensor numbers(const std::vector<float>& values) {
  return {Shape{static_cast<std::int64_t>(values.size())}, std::span<const float>(values)};
}

/// Returns the area of samples with these scores and labels.
double area(const Tensor& scores, const std::vector<std::int64_t>& of) {
  const auto state = roc_auc("scores").start();
  state->add(returned(scores), {labels(of)});
  return state->value();
}

TEST(RocAuc, CountsPairsThatAreInOrder) {
  EXPECT_EQ(area(numbers({0.1f, 0.4f, 0.35f, 0.8f}), {0, 0, 1, 1}), 0.75);
  EXPECT_EQ(area(numbers({1, 2, 3, 4}), {0, 0, 1, 1}), 1);
  EXPECT_EQ(area(numbers({1, 2, 3, 4}), {1, 1, 0, 0}), 0);
}

TEST(RocAuc, CountsAPairOfEqualScoresAsOneHalf) {
  EXPECT_EQ(area(numbers({1, 1, 1, 2}), {0, 1, 0, 1}), 0.75);
  EXPECT_EQ(area(numbers({5, 5, 5}), {0, 1, 1}), 0.5);
  EXPECT_EQ(area(numbers({0.0f, -0.0f}), {0, 1}), 0.5);
}

/// Returns the area by its definition, pair by pair.
double defined_area(std::span<const float> scores, std::span<const std::int64_t> of) {
  double wins = 0, pairs = 0;
  for (std::size_t p = 0; p < of.size(); ++p)
    for (std::size_t n = 0; n < of.size(); ++n) {
      if (of[p] != 1 || of[n] != 0) continue;
      ++pairs;
      wins += scores[p] > scores[n] ? 1 : scores[p] == scores[n] ? 0.5 : 0;
    }
  return wins / pairs;
}

TEST(RocAuc, IsWhatItsDefinitionSaysForManySamplesWithTies) {
  const Tensor drawn = testing::uniform({300}, 1);
  std::vector<float> rounded;
  for (const float number : drawn.as<float>()) rounded.push_back(std::round(number * 20));
  const Tensor of = testing::labels({300}, 2, 2);
  const auto state = roc_auc("scores").start();
  state->add(returned(numbers(rounded)), {of});
  EXPECT_EQ(state->value(), defined_area(rounded, of.as<std::int64_t>()));
}

TEST(RocAuc, OrdersTwoScoresByTheirDifference) {
  EXPECT_EQ(area(Tensor({3, 2}, {5, 6, 0, 3, 9, 8}), {1, 1, 0}), 1);
  EXPECT_EQ(area(Tensor({2, 2}, {1, 2, 7, 8}), {0, 1}), 0.5);
  EXPECT_EQ(area(Tensor({2, 1}, {1, 2}), {0, 1}), 1);
}

TEST(RocAuc, IsNoNumberWithoutBothClassesOrNumbers) {
  EXPECT_TRUE(std::isnan(area(numbers({1, 2}), {1, 1})));
  EXPECT_TRUE(std::isnan(area(numbers({1, 2}), {0, 0})));
  EXPECT_TRUE(std::isnan(area(numbers({1, std::nanf("")}), {0, 1})));
  EXPECT_TRUE(std::isnan(roc_auc("scores").start()->value()));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(area(numbers({-infinity, infinity}), {0, 1}), 1);
}

TEST(RocAuc, RefusesOtherLabelsAndMoreClasses) {
  EXPECT_EQ(refusal(Errc::invalid_data,
                    [] {
                      area(numbers({1, 2}), {0, 2});
                    }),
            "roc_auc: expected labels of 0 or 1, got 2 as label 1");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [] {
                      area(Tensor({1, 3}, {1, 2, 3}), {0});
                    }),
            "roc_auc: expected scores of 1 or 2 classes, got those of 3");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [] {
                      area(numbers({1, 2}), {0});
                    }),
            "roc_auc: expected scores f32 [N,classes] or [N] and labels i64 [M], or i32 or u8, "
            "with N <= M, got "
            "f32[2] and i64[1]");
}

TEST(ClassificationMetrics, RefuseWhatMakesNoSense) {
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { f1_score("y", {.positive_class = -1}); }),
            "f1_score: positive_class: expected 0 or more, got -1");
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { recall("y", {.threshold = std::nan("")}); }),
            "recall: threshold: expected a number, got nan");
  StepResult outline = returned(Tensor());
  EXPECT_NO_THROW(precision("scores").check(outline));
  outline.rows.mode = OutputMode::sum;
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { precision("scores").check(outline); }),
            "precision: expected the scores of single samples, as output mode all, final or "
            "every_n returns them, got sum");
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { roc_auc("score").check(outline); }),
            "there is no output named \"score\"; did you mean \"scores\"?");
}

TEST(Perplexity, IsTheExponentialOfTheMeanLossOfAllSamples) {
  const auto of = [](const Tensor& losses, const OutputRows& rows) {
    StepResult result{.outputs = {{"loss", losses}}, .rows = rows};
    return result;
  };
  const Metric metric = perplexity("loss");
  EXPECT_EQ(metric.name, "perplexity");
  const auto first = metric.start(), second = metric.start();
  first->add(of(numbers({1, 2}), {.micro_batches = {2, 4}}), {});
  second->add(of(numbers({4}), {.shorter = {1, 2}}), {});
  first->merge(*second);
  // The mean is (1·4 + 2·4 + 4·2) / 10.
  EXPECT_DOUBLE_EQ(first->value(), std::exp(2.0));
}

/// A Classified has a model of two blocks, and data that the model's random weights classify partly
/// right.
struct Classified {
  Model model{"classified", 3};

  Classified() {
    Value x = model.input("x", {5});
    {
      const auto block = model.block("A");
      x = model.relu(model.linear("fc1", x, 8));
    }
    const auto block = model.block("B");
    x = model.linear("fc2", x, 2);
    const Value loss = model.cross_entropy(x, model.labels());
    model.output("scores", x);
    model.output("loss", loss);
    model.loss(loss);
  }

  static DataLoader data() {
    return {tensor_dataset({testing::uniform({96, 5}, 1), testing::labels({96}, 2, 2)}),
            24,
            {.mode = LoaderMode::sync, .workers = 0}};
  }

  static std::vector<Metric> metrics() {
    return {precision("scores"), recall("scores"), f1_score("scores", {.average = Average::binary}),
            roc_auc("scores"), perplexity("loss")};
  }
};

Options options_of(const char* stages, int accumulation, int iterations, int replicas) {
  Options options{.batch_size = 4, .device_iterations = iterations};
  options.training.gradient_accumulation = accumulation;
  options.topology.replication_factor = replicas;
  options.topology.stages = parse_stages(stages);
  options.output.mode = OutputMode::all;
  return options;
}

std::vector<double> values(const std::vector<NamedValue>& named) {
  std::vector<double> all;
  for (const NamedValue& value : named) all.push_back(value.value);
  return all;
}

TEST(ClassificationMetrics, AreTheSameNumbersOfAnEvaluationOnEveryTopology) {
  std::vector<std::vector<double>> results;
  for (const Options& options : {options_of("A,B", 1, 1, 1), options_of("A|B", 1, 1, 1),
                                 options_of("A|B", 1, 3, 2), options_of("A,B", 1, 6, 1)}) {
    const Classified classified;
    InferenceModel inference(classified.model, options);
    DataLoader data = Classified::data();
    results.push_back(values(evaluate(inference, data, Classified::metrics()).values));
  }
  for (const auto& result : results) EXPECT_EQ(result, results.front());
  for (const double number : results.front()) EXPECT_TRUE(number > 0 && number != 1) << number;
}

TEST(ClassificationMetrics, AreTheSameNumbersOfATrainingOnEveryTopology) {
  std::vector<std::vector<double>> results;
  for (const Options& options :
       {options_of("A,B", 2, 3, 1), options_of("A|B", 2, 3, 1), options_of("A|B", 2, 1, 1)}) {
    const Classified classified;
    TrainingModel training(classified.model, options, Sgd{.learning_rate = 0.5});
    DataLoader data(tensor_dataset({testing::uniform({96, 5}, 1), testing::labels({96}, 2, 2)}),
                    options, {.mode = LoaderMode::sync, .workers = 0});
    const History history = fit(training, data, {.metrics = Classified::metrics()});
    results.push_back(values(history.epochs[0].values));
  }
  for (const auto& result : results)
    for (std::size_t i = 1; i < result.size(); ++i) EXPECT_EQ(result[i], results.front()[i]) << i;
}

// The evaluation counts what the whole data would give at once, not a mean over runs.
TEST(ClassificationMetrics, OfAnEvaluationAreThoseOfAllSamplesTogether) {
  const Classified classified;
  InferenceModel inference(classified.model, options_of("A,B", 1, 1, 1));
  DataLoader data = Classified::data();
  const std::vector<NamedTensor> predicted =
      predict(inference, {testing::uniform({96, 5}, 1), testing::labels({96}, 2, 2)});
  ConfusionMatrix matrix;
  matrix.add(predicted[0].tensor, testing::labels({96}, 2, 2));
  const Evaluation evaluation = evaluate(inference, data, Classified::metrics());
  EXPECT_EQ(value_of(evaluation.values, "precision"), matrix.precision());
  EXPECT_EQ(value_of(evaluation.values, "recall"), matrix.recall());
  EXPECT_EQ(value_of(evaluation.values, "f1_score"), matrix.f1_score({.average = Average::binary}));
}

}  // namespace
}  // namespace penstock
