// These tests check that fit() calls none of the host's functions any more once the host has asked
// it to stop. The tests ask in each of these functions.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::per_step;
using testing::per_update;
using testing::Scaling;

/// A CountingHost counts the calls of its functions, and asks for a stop in one of them.
class CountingHost {
 public:
  /// Makes a host that asks for a stop in call number `stop_in`, counted from 1. If `stop_in` is 0,
  /// the host asks before fit(); if it is -1, the host never asks.
  explicit CountingHost(int stop_in) : stop_in_(stop_in) {
    if (stop_in == 0) stop_.request_stop();
  }

  int calls() const { return calls_; }
  bool was_asked_to_stop() const { return stop_.stop_requested(); }

  /// Trains two epochs of two steps each, with two callbacks, two metrics, a sampler and an
  /// evaluation.
  History fit(std::optional<std::int64_t> steps_per_epoch) {
    Scaling scaling;
    TrainingModel training(scaling.model, testing::options(), Sgd{.learning_rate = 0});
    InferenceModel inference(scaling.model, testing::options());
    DataLoader data = sampled(), validation = sampled();
    calls_ = 0;  // Until here, the loaders have asked the sampler for their first epoch.
    return penstock::fit(training, data,
                         {.epochs = 2,
                          .steps_per_epoch = steps_per_epoch,
                          .metrics = {metric("first"), metric("second")},
                          .validation_model = &inference,
                          .validation_data = &validation,
                          .callbacks = {callback(), callback()}},
                         stop_.get_token());
  }

 private:
  void note_call() {
    if (++calls_ == stop_in_ && counts_) stop_.request_stop();
  }

  DataLoader sampled() {
    counts_ = false;
    std::vector<float> x(2 * per_step);
    DataLoader loader(tensor_dataset({Tensor({2 * per_step, 1}, std::span<const float>(x))}),
                      per_step,
                      {.mode = LoaderMode::sync, .workers = 0, .sampler = [this](std::uint64_t) {
                         note_call();
                         std::vector<std::int64_t> order(2 * per_step);
                         std::iota(order.begin(), order.end(), 0);
                         return order;
                       }});
    counts_ = true;
    return loader;
  }

  Metric metric(const std::string& name) {
    return {.name = name,
            .score =
                [this](const StepResult&, const Batch&) {
                  note_call();
                  return Score{1, 1};
                },
            .check = [this](const StepResult&) { note_call(); }};
  }

  FitCallback callback() {
    return {.on_fit_begin = [this](const std::vector<std::string>&) { note_call(); },
            .on_epoch_begin = [this](int, std::int64_t) { note_call(); },
            .on_step_begin = [this](const Batch&) { note_call(); },
            .on_step_end =
                [this](const StepRecord&, const StepResult&) {
                  note_call();
                  return Next::go_on;
                },
            .on_epoch_end =
                [this](const EpochRecord&) {
                  note_call();
                  return Next::go_on;
                }};
  }

  const int stop_in_;
  int calls_ = 0;
  bool counts_ = true;
  std::stop_source stop_;
};

TEST(StoppedFit, CallsNothingOfTheHostsAfterTheCallThatAskedForTheStop) {
  for (const std::optional<std::int64_t> steps_per_epoch :
       {std::optional<std::int64_t>(), std::optional<std::int64_t>(2),
        std::optional<std::int64_t>(3)}) {
    SCOPED_TRACE("steps_per_epoch " + std::to_string(steps_per_epoch.value_or(0)));
    CountingHost patient(-1);
    EXPECT_FALSE(patient.fit(steps_per_epoch).cancelled);
    ASSERT_GT(patient.calls(), 30);
    for (int stop_in = 0; stop_in < patient.calls(); ++stop_in) {
      CountingHost host(stop_in);
      EXPECT_TRUE(host.fit(steps_per_epoch).cancelled) << "a stop in call " << stop_in;
      EXPECT_EQ(host.calls(), stop_in);
    }
    CountingHost late(patient.calls());
    EXPECT_FALSE(late.fit(steps_per_epoch).cancelled);
    EXPECT_TRUE(late.was_asked_to_stop());
  }
}

TEST(StoppedFit, BeginsNoEpochOfTheDataIfItWasAskedBefore) {
  Scaling scaling;
  TrainingModel training(scaling.model, testing::options());
  std::vector<std::uint64_t> epochs;
  std::vector<float> x(per_step);
  DataLoader data(tensor_dataset({Tensor({per_step, 1}, std::span<const float>(x))}), per_step,
                  {.sampler = [&](std::uint64_t epoch) {
                    epochs.push_back(epoch);
                    return std::vector<std::int64_t>(per_step, 0);
                  }});
  std::stop_source stop;
  stop.request_stop();
  for (int times = 0; times < 3; ++times)
    EXPECT_TRUE(fit(training, data, {}, stop.get_token()).cancelled);
  fit(training, data);
  EXPECT_EQ(epochs, std::vector<std::uint64_t>{0});
}

TEST(StoppedFit, TellsOfAnEpochThatWasWholeWhenTheStopCame) {
  Scaling scaling;
  TrainingModel training(scaling.model, testing::options());
  DataLoader data = testing::numbers(2 * per_step);
  std::stop_source stop;
  FitCallback callback;
  callback.on_epoch_end = [&](const EpochRecord&) {
    stop.request_stop();
    return Next::go_on;
  };
  const History history =
      fit(training, data, {.epochs = 3, .callbacks = {callback}}, stop.get_token());
  EXPECT_TRUE(history.cancelled);
  ASSERT_EQ(history.epochs.size(), 1U);
  EXPECT_EQ(history.epochs[0].steps, 2);
  EXPECT_EQ(history.updates, history.epochs[0].updates);
}

TEST(StoppedFit, TellsNothingOfAnEpochWhoseEvaluationWasStopped) {
  // The stop is asked for in the first run, in the first of two metrics or in the second one.
  for (const int stop_in : {1, 2}) {
    Scaling scaling;
    TrainingModel training(scaling.model, testing::options());
    InferenceModel inference(scaling.model, testing::options());
    DataLoader data = testing::numbers(2 * per_step), validation = testing::numbers(2 * per_step);
    std::stop_source stop;
    int scores = 0, epochs_told = 0;
    const auto score = [&](const StepResult& result, const Batch&) {
      // A run of inference has no loss, and so tells the evaluation from the training.
      if (std::isnan(result.mean_loss) && ++scores == stop_in) stop.request_stop();
      return Score{1, 1};
    };
    FitCallback callback;
    callback.on_epoch_end = [&](const EpochRecord&) {
      ++epochs_told;
      return Next::go_on;
    };
    const History history = fit(training, data,
                                {.epochs = 3,
                                 .metrics = {{"first", score}, {"second", score}},
                                 .validation_model = &inference,
                                 .validation_data = &validation,
                                 .callbacks = {callback}},
                                stop.get_token());
    EXPECT_EQ(scores, stop_in);
    EXPECT_TRUE(history.cancelled);
    EXPECT_TRUE(history.epochs.empty());
    EXPECT_EQ(epochs_told, 0);
    EXPECT_EQ(history.updates, 4U);  // The epoch whose evaluation was stopped has 4 updates.
    EXPECT_EQ(training.updates(), 4U);
    EXPECT_GT(history.samples_per_second, 0);
  }
}

TEST(StoppedFit, HasEvaluateRefuseWhatSomeMetricsHaveNotSeen) {
  Scaling scaling;
  InferenceModel inference(scaling.model, testing::options());
  for (const int stop_in : {1, 2}) {
    DataLoader data = testing::numbers(per_update, per_update);
    std::stop_source stop;
    int scores = 0;
    const auto score = [&](const StepResult&, const Batch&) {
      if (++scores == stop_in) stop.request_stop();
      return Score{1, 1};
    };
    const auto evaluated = [&] {
      evaluate(inference, data, {{"first", score}, {"second", score}}, {}, stop.get_token());
    };
    // One run takes all samples, and the second metric is the last thing to be done.
    EXPECT_EQ(testing::refusal(Errc::cancelled, evaluated) == "accepted", stop_in == 2);
    EXPECT_EQ(scores, stop_in);
  }
}

}  // namespace
}  // namespace penstock
