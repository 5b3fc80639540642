// B7, G2 and G4 of docs/reference.md: these tests check fit(), and the rules of its loop.
#include "penstock/fit.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/engine/fit/scaling.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::options;
using testing::per_step;
using testing::per_update;
using testing::Scaling;

/// A Log keeps what a callback was told.
struct Log {
  std::vector<std::int64_t> announced;
  std::vector<StepRecord> steps;
  std::vector<EpochRecord> epochs;
  std::vector<float> first_samples;  // This has the first sample of each step.
  int stop_after_steps = -1;

  FitCallback callback() {
    return {.on_epoch_begin = [this](int, std::int64_t steps) { announced.push_back(steps); },
            .on_step_begin =
                [this](const Batch& batch) { first_samples.push_back(batch[0].as<float>()[0]); },
            .on_step_end =
                [this](const StepRecord& record, const StepResult&) {
                  steps.push_back(record);
                  return --stop_after_steps == 0 ? Next::stop : Next::go_on;
                },
            .on_epoch_end =
                [this](const EpochRecord& record) {
                  epochs.push_back(record);
                  return Next::go_on;
                }};
  }
};

/// Trains on 20 samples with a learning rate of 0, so that y = x.
Log fitted(FitOptions fit_options, Log log = {}) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0});
  DataLoader data = numbers(20);
  fit_options.callbacks = {log.callback()};
  const History history = fit(training, data, fit_options);
  EXPECT_EQ(history.updates, training.updates());
  EXPECT_EQ(history.epochs.size(), log.epochs.size());
  EXPECT_GT(history.samples_per_second, 0);
  return log;
}

TEST(Fit, CountsStepsPerEpochAndUpdatesPerTraining) {
  const Log log = fitted({.epochs = 2});
  ASSERT_EQ(log.steps.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(log.steps[i].epoch, i < 2 ? 1 : 2);
    EXPECT_EQ(log.steps[i].step, i % 2 + 1);
    EXPECT_EQ(log.steps[i].updates, 2 * (i + 1));
    EXPECT_GT(log.steps[i].samples_per_second, 0);
  }
  EXPECT_EQ(log.first_samples, (std::vector<float>{0, 8, 0, 8}));
  EXPECT_EQ(log.announced, (std::vector<std::int64_t>{2, 2}));
}

TEST(Fit, TellsTheMeansOfAStepAndOfAnEpoch) {
  const Log log = fitted({.metrics = {mean_of("y")}});
  EXPECT_EQ(value_of(log.steps[0].values, "loss"), 3.5);
  EXPECT_EQ(value_of(log.steps[1].values, "loss"), 11.5);
  EXPECT_EQ(value_of(log.steps[1].values, "y"), 11.5);
  ASSERT_EQ(log.epochs.size(), 1U);
  EXPECT_EQ(log.epochs[0].steps, 2);
  EXPECT_EQ(log.epochs[0].updates, 4U);
  EXPECT_EQ(log.epochs[0].values[0].name, "loss");
  EXPECT_EQ(value_of(log.epochs[0].values, "loss"), 7.5);
  EXPECT_EQ(value_of(log.epochs[0].values, "y"), 7.5);
}

// The data are read only when they are asked for, so that every batch is waited for.
TEST(Fit, G4_TellsHowLongEachOfItsEpochsWaitedForData) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0});
  DataLoader data = numbers(20);
  double waited_in_epochs = 0;
  for (int times = 0; times < 2; ++times) {
    const History history = fit(training, data, {.epochs = 2});
    double sum = 0;
    for (const EpochRecord& epoch : history.epochs) {
      EXPECT_GT(epoch.waited_seconds, 0);
      EXPECT_LT(epoch.waited_seconds, epoch.seconds);
      sum += epoch.waited_seconds;
    }
    EXPECT_DOUBLE_EQ(history.waited_seconds, sum);
    waited_in_epochs += sum;
  }
  EXPECT_NEAR(waited_in_epochs, data.waited_seconds(), 1e-12);
}

TEST(Fit, TrainsTheModelThatItIsGiven) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0.5});
  DataLoader data = numbers(8);
  fit(training, data);
  // The gradients are the means of 0..3 and of 4..7.
  EXPECT_EQ(scaling.weight(), 1 - 0.5f * (1.5f + 5.5f));
}

// There are 22 samples, which are two steps of two updates, and one of an update and a half.
TEST(Fit, R2_6_TrainsOnAShorterLastBatchToo) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0});
  DataLoader data = numbers(22, per_step, false);
  Log log;
  const History history =
      fit(training, data, {.metrics = {mean_of("y")}, .callbacks = {log.callback()}});
  EXPECT_EQ(history.updates, 6U);
  EXPECT_EQ(training.updates(), 6U);
  EXPECT_EQ(value_of(history.epochs[0].values, "y"), 10.5);
  fit(training, data, {.max_updates = 5});
  EXPECT_EQ(training.updates(), 11U);
}

TEST(Fit, TheLastStepIsShortenedToTheLastUpdate) {
  const Log log = fitted({.epochs = 100, .max_updates = 7});
  ASSERT_EQ(log.steps.size(), 4U);
  EXPECT_EQ(log.steps.back().updates, 7U);
  EXPECT_EQ(value_of(log.steps.back().values, "loss"), 9.5);  // The step has samples 8 to 11.
  EXPECT_EQ(log.steps.back().epoch, 2);
}

TEST(Fit, StopsWithoutAStepTooManyWhenUpdatesEndWithAStep) {
  const Log log = fitted({.epochs = 100, .max_updates = 4});
  EXPECT_EQ(log.steps.size(), 2U);
  EXPECT_EQ(log.announced.size(), 1U);
}

TEST(Fit, EpochsEndATrainingBeforeUpdatesDo) {
  EXPECT_EQ(fitted({.max_updates = 1000}).steps.size(), 2U);
}

TEST(Fit, AnnouncesHowManyStepsAnEpochWillHave) {
  using Steps = std::vector<std::int64_t>;
  EXPECT_EQ(fitted({.epochs = 100, .max_updates = 5}).announced, (Steps{2, 1}));
  EXPECT_EQ(fitted({.epochs = 100, .max_updates = 1}).announced, Steps{1});
  EXPECT_EQ(fitted({.epochs = 2, .steps_per_epoch = 3}).announced, (Steps{3, 3}));
}

// There are 20 samples, which are two steps of two updates, and one of one update.
TEST(Fit, AnnouncesStepsThatHaveFewerUpdates) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0});
  DataLoader data = numbers(20, per_step, false);
  Log log;
  fit(training, data,
      {.epochs = 9, .steps_per_epoch = 4, .max_updates = 13, .callbacks = {log.callback()}});
  EXPECT_EQ(log.announced, (std::vector<std::int64_t>{4, 4}));
  EXPECT_EQ(log.steps.size(), 8U);
  EXPECT_EQ(training.updates(), 13U);
}

TEST(Fit, G4_StepsPerEpochGoOnInDataThatHaveMoreAndBeginAgainInDataThatHaveLess) {
  EXPECT_EQ(fitted({.epochs = 2, .steps_per_epoch = 3}).first_samples,
            (std::vector<float>{0, 8, 0, 8, 0, 8}));
  EXPECT_EQ(fitted({.epochs = 3, .steps_per_epoch = 1}).first_samples,
            (std::vector<float>{0, 8, 0}));
}

TEST(Fit, ACallbackEndsTheTrainingAndIsToldTheEpochSoFar) {
  Log log;
  log.stop_after_steps = 3;
  log = fitted({.epochs = 5}, log);
  EXPECT_EQ(log.steps.size(), 3U);
  ASSERT_EQ(log.epochs.size(), 2U);
  EXPECT_EQ(log.epochs[1].steps, 1);
}

TEST(Fit, WhatACallbackThrowsReachesTheCallerAndLeavesTheModelAtItsLastUpdate) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  DataLoader data = numbers(16);
  FitCallback callback;
  callback.on_step_end = [](const StepRecord&, const StepResult&) -> Next {
    throw std::runtime_error("enough");
  };
  EXPECT_THROW(fit(training, data, {.callbacks = {callback}}), std::runtime_error);
  EXPECT_EQ(training.updates(), 2U);
  EXPECT_EQ(fit(training, data).updates, 4U);
}

TEST(Fit, EvaluatesAtTheEndOfEachEpochOnTheWeightsOfThen) {
  Scaling scaling;
  Options one_update = options();
  one_update.device_iterations = 1;
  TrainingModel training(scaling.model, one_update, Sgd{.learning_rate = 0.5});
  InferenceModel inference(scaling.model, {.batch_size = 4});
  DataLoader data = numbers(4, per_update), validation = numbers(3, 2, false);
  const History history = fit(training, data,
                              {.epochs = 2,
                               .metrics = {mean_of("y")},
                               .validation_model = &inference,
                               .validation_data = &validation});
  // Each epoch is one update, which changes the weight by -0.5 * 1.5. The mean of the validation
  // samples 0, 1, 2 is 1, so that val_y is the weight.
  EXPECT_EQ(value_of(history.epochs[0].values, "val_y"), 0.25);
  EXPECT_EQ(value_of(history.epochs[1].values, "val_y"), -0.5);
}

TEST(Fit, AsksAMetricOnceAStepWhoeverListens) {
  Log log;
  int asked = 0;
  const Metric counting{"asked", [&](const StepResult&, const Batch&) {
                          ++asked;
                          return Score{static_cast<double>(asked), 1};
                        }};
  log = fitted({.metrics = {counting}}, log);
  EXPECT_EQ(asked, std::ssize(log.steps));
  EXPECT_EQ(value_of(log.steps.back().values, "asked"), asked);
  EXPECT_EQ(value_of(log.epochs.back().values, "asked"), (1.0 + asked) / 2);
}

}  // namespace
}  // namespace penstock
