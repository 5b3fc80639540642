// These tests check what fit() and evaluate() refuse before they begin.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "penstock/error.hpp"
#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/numbered_streams.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::options;
using testing::per_step;
using testing::refusal;
using testing::Scaling;

TEST(Fit, RefusesWhatMakesNoSenseBeforeItBegins) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  InferenceModel inference(scaling.model, options());
  DataLoader data = numbers(16);
  const Metric y = mean_of("y");
  const std::pair<FitOptions, std::string> cases[] = {
      {{.epochs = 0}, "fit: epochs: expected 1 or more, got 0"},
      {{.steps_per_epoch = 0}, "fit: steps_per_epoch: expected 1 or more, got 0"},
      {{.max_updates = -1}, "fit: max_updates: expected 1 or more, got -1"},
      {{.metrics = {y, y}}, "metrics: expected names that differ, got \"y\" once more"},
      {{.metrics = {{"bare", {}}}},
       "metrics: expected a name and a function score or start each, got \"bare\" without a "
       "function"},
      {{.validation_data = &data},
       "fit: validation_model and validation_data: expected both or neither, got only "
       "validation_data"},
      {{.validation_model = &inference, .validation_data = &data},
       "fit: validation_model: expected metrics, got none, so that nothing would be measured; "
       "mean_of(\"loss\") is the loss of a model that has it as the output \"loss\""}};
  for (const auto& [options, text] : cases)
    EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data, options); }), text);
  EXPECT_EQ(training.updates(), 0U);
}

TEST(Fit, D2_RefusesALoaderWhoseBatchesAreNoSteps) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  for (const std::int64_t per_batch : {1, 4, 7, 9, 16}) {
    DataLoader data = numbers(32, per_batch);
    EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data); }),
              "fit: data: expected batches of 8 samples, what a step takes (batch size x gradient "
              "accumulation x device iterations x replicas), got batches of " +
                  std::to_string(per_batch) +
                  "; DataLoader(dataset, model.options()) makes such ones");
  }
  EXPECT_EQ(training.updates(), 0U);
}

TEST(Fit, D2_TakesABatchSamplersBatchesIfNoneIsTooLarge) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0});
  const auto dataset = tensor_dataset({Tensor({3, 1}, {1, 2, 3})});
  const auto batches = [&](std::int64_t concatenated) {
    const BatchSampler sampler = [](std::uint64_t) {
      return std::vector<std::vector<std::int64_t>>{{0, 1, 2}, {0, 1, 2}, {0}, {1}, {2}, {0}};
    };
    return DataLoader(dataset, sampler, concatenated, {.mode = LoaderMode::sync, .workers = 0});
  };
  DataLoader some = batches(2), many = batches(6);
  EXPECT_EQ(fit(training, some).updates, 4U);  // The four updates have 4, 2, 2 and 2 samples.
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { fit(training, many); }).find("batches of 10"),
            std::string::npos);
  EXPECT_EQ(training.updates(), 4U);
}

TEST(Fit, RefusesAnEpochWithoutABatch) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  InferenceModel inference(scaling.model, options());
  const auto few = std::make_shared<testing::NumberedStreams>(per_step - 1, false);
  DataLoader data(few, per_step, {.mode = LoaderMode::sync, .workers = 0});
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { fit(training, data); }),
            "fit: expected at least one batch in an epoch of the data");
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { evaluate(inference, data, {}); }),
            "evaluate: expected at least one batch in an epoch of the data");
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { predict(inference, data); }),
            "predict: expected at least one batch in an epoch of the data");
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { fit(training, data, {.steps_per_epoch = 2}); }),
            "fit: expected at least one batch in an epoch of the data");
}

/// Returns the texts with which fit() and evaluate() refuse a metric under an output mode, before
/// their first call of a model.
std::pair<std::string, std::string> refusals(const Metric& metric, OutputMode mode,
                                             int replicas_of_a_group = 1) {
  Scaling scaling;
  Options refused = options();
  refused.output.mode = mode;
  refused.topology.replication_factor = refused.topology.input_group_size = replicas_of_a_group;
  TrainingModel training(scaling.model, refused);
  InferenceModel inference(scaling.model, refused);
  DataLoader data = numbers(16);
  std::pair<std::string, std::string> texts{
      refusal(Errc::invalid_argument, [&] { fit(training, data, {.metrics = {metric}}); }),
      refusal(Errc::invalid_argument, [&] { evaluate(inference, data, {metric}); })};
  EXPECT_EQ(training.updates(), 0U);
  EXPECT_EQ(inference.weight_uploads(), 0U);
  return texts;
}

TEST(Fit, F16_RefusesWhatAMetricLooksForInVainBeforeItBegins) {
  const std::string no_z = "there is no output named \"z\"; there is: y";
  const std::string single =
      "metric \"accuracy\": accuracy: expected the scores of single samples, as output mode all, "
      "final or every_n returns them, got sum";
  const std::string once =
      "metric \"accuracy\": accuracy: expected the scores of each sample once, got those of input "
      "groups of 2 replicas";
  using Texts = std::pair<std::string, std::string>;
  EXPECT_EQ(refusals(accuracy("z"), OutputMode::all),
            (Texts{"fit: metric \"accuracy\": " + no_z, "evaluate: metric \"accuracy\": " + no_z}));
  EXPECT_EQ(refusals(mean_of("z"), OutputMode::all),
            (Texts{"fit: metric \"z\": " + no_z, "evaluate: metric \"z\": " + no_z}));
  EXPECT_EQ(refusals(accuracy("y"), OutputMode::sum),
            (Texts{"fit: " + single, "evaluate: " + single}));
  EXPECT_EQ(refusals(accuracy("y"), OutputMode::all, 2),
            (Texts{"fit: " + once, "evaluate: " + once}));
}

TEST(Fit, RefusesAMetricOfWhichTheValidationModelHasNoOutput) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  const Model other = [] {
    Model model("other");
    model.output("z", model.linear("fc", model.input("x", {1}), 1));
    return model;
  }();
  InferenceModel inference(other, options());
  DataLoader data = numbers(16), validation = numbers(16);
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] {
                      fit(training, data,
                          {.metrics = {mean_of("y")},
                           .validation_model = &inference,
                           .validation_data = &validation});
                    }),
            "fit: validation_model: metric \"y\": there is no output named \"y\"; there is: z");
  EXPECT_EQ(training.updates(), 0U);
}

TEST(Fit, WhatAMetricOfOnesOwnThrowsHasOneStepBehindItUnlessItChecks) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  DataLoader data = numbers(16);
  Metric metric{"own", [](const StepResult& result, const Batch&) {
                  result.output("z");
                  return Score{};
                }};
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data, {.metrics = {metric}}); }),
            "there is no output named \"z\"; there is: y");
  EXPECT_EQ(training.updates(), 2U);
  metric.check = [](const StepResult& outline) { outline.anchor("a"); };
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data, {.metrics = {metric}}); }),
            "fit: metric \"own\": there is no anchor named \"a\"; there is none");
  EXPECT_EQ(training.updates(), 2U);
}

}  // namespace
}  // namespace penstock
