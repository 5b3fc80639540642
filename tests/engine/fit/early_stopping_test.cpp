#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::options;
using testing::refusal;
using testing::Scaling;

/// Returns the number of epochs of a training that end with `losses` as their values of "loss",
/// until `rule` stops it.
std::size_t epochs_until_stopped(const EarlyStopping& rule, const std::vector<double>& losses) {
  const FitCallback callback = early_stopping(rule);
  for (std::size_t i = 0; i < losses.size(); ++i)
    if (callback.on_epoch_end({.values = {{"loss", losses[i]}}}) == Next::stop) return i + 1;
  return losses.size();
}

TEST(EarlyStopping, WaitsAsManyEpochsAsItsPatienceForAGain) {
  const std::vector<double> losses{3, 2, 2, 2.5, 1, 1, 1, 1};
  EXPECT_EQ(epochs_until_stopped({.monitor = "loss"}, losses), 3U);
  EXPECT_EQ(epochs_until_stopped({.monitor = "loss", .patience = 1}, losses), 4U);
  EXPECT_EQ(epochs_until_stopped({.monitor = "loss", .patience = 2}, losses), 8U);
  EXPECT_EQ(epochs_until_stopped({.monitor = "loss", .min_delta = 1}, losses), 2U);
  EXPECT_EQ(epochs_until_stopped({.monitor = "loss", .higher_is_better = true}, losses), 2U);
}

TEST(EarlyStopping, TakesALossThatIsNoNumberForNoGain) {
  EXPECT_EQ(epochs_until_stopped({.monitor = "loss", .patience = 1}, {std::nan(""), std::nan("")}),
            2U);
}

TEST(EarlyStopping, G4_EndsATrainingWithTheEpochThatGainsNothing) {
  Scaling scaling;
  TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0});
  InferenceModel inference(scaling.model, options());
  DataLoader data = numbers(16), validation = numbers(16);
  const History history = fit(training, data,
                              {.epochs = 9,
                               .metrics = {mean_of("y")},
                               .validation_model = &inference,
                               .validation_data = &validation,
                               .callbacks = {early_stopping({.monitor = "val_y", .patience = 1})}});
  EXPECT_EQ(history.epochs.size(), 3U);
}

/// A Fallen has the results of a training whose loss falls. The rule wants the loss to grow, so
/// that the first epoch is the best one.
struct Fallen {
  std::vector<float> weights;  // This has the weight after each epoch.
  float last = 0;              // This is the weight after fit().
  History history;

  explicit Fallen(EarlyStopping rule, int epochs = 9, std::stop_source stop = {},
                  int stop_after = -1) {
    rule.monitor = "loss";
    rule.higher_is_better = true;
    rule.patience = 1;
    Scaling scaling;
    TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0.01});
    DataLoader data = numbers(16);
    FitCallback watch;
    watch.on_epoch_end = [&](const EpochRecord& epoch) {
      weights.push_back(scaling.weight());
      if (epoch.epoch == stop_after) stop.request_stop();
      return Next::go_on;
    };
    history = fit(training, data, {.epochs = epochs, .callbacks = {early_stopping(rule), watch}},
                  stop.get_token());
    last = scaling.weight();
  }
};

TEST(EarlyStopping, RestoresTheWeightsOfTheBestEpochWhereAsked) {
  const Fallen restored({.restore_best_weights = true});
  ASSERT_EQ(restored.weights.size(), 3U);
  EXPECT_NE(restored.weights[0], restored.weights[2]);
  EXPECT_EQ(restored.last, restored.weights[0]);
  const Fallen kept({});
  EXPECT_EQ(kept.weights, restored.weights);
  EXPECT_EQ(kept.last, kept.weights[2]);
}

TEST(EarlyStopping, RestoresTheBestWeightsOfATrainingThatEndsByItself) {
  const Fallen restored({.restore_best_weights = true}, 2);
  ASSERT_EQ(restored.weights.size(), 2U);
  EXPECT_EQ(restored.last, restored.weights[0]);
}

TEST(EarlyStopping, LeavesACancelledTrainingItsWeights) {
  const Fallen cancelled({.restore_best_weights = true}, 9, {}, 2);
  EXPECT_TRUE(cancelled.history.cancelled);
  ASSERT_EQ(cancelled.weights.size(), 2U);
  EXPECT_EQ(cancelled.last, cancelled.weights[1]);
}

TEST(EarlyStopping, RestoresTheBestWeightsThoughAStopIsAskedForWhenAllIsDone) {
  const Fallen done({.restore_best_weights = true}, 2, {}, 2);
  EXPECT_FALSE(done.history.cancelled);
  EXPECT_EQ(done.last, done.weights[0]);
}

TEST(EarlyStopping, RestoresBuffersToo) {
  Model model("norm");
  const Value x = model.input("x", {1, 2, 2});
  model.loss(model.identity_loss(model.batch_norm2d("bn", x)));
  TrainingModel training(model, options(), Sgd{.learning_rate = 0.1});
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17};
  std::vector<float> x_values(8 * 4);
  for (std::size_t i = 0; i < x_values.size(); ++i) x_values[i] = values[i % values.size()];
  DataLoader data(tensor_dataset({Tensor({8, 1, 2, 2}, std::span<const float>(x_values))}), 8,
                  {.mode = LoaderMode::sync, .workers = 0});
  std::vector<float> means;
  FitCallback watch;
  watch.on_epoch_end = [&](const EpochRecord&) {
    means.push_back(model.weight("bn.running_mean").item());
    return Next::go_on;
  };
  const FitCallback stopping =
      early_stopping({.monitor = "loss", .higher_is_better = true, .restore_best_weights = true});
  fit(training, data, {.epochs = 3, .callbacks = {stopping, watch}});
  ASSERT_EQ(means.size(), 2U);
  EXPECT_NE(means[0], means[1]);
  EXPECT_EQ(model.weight("bn.running_mean").item(), means[0]);
}

/// Returns a model whose loss is a product of two weights and the input. The weights fall with the
/// loss.
Model product() {
  Model model("product");
  const Value first = model.linear("first", model.input("x", {1}), 1, false);
  model.loss(model.identity_loss(model.linear("second", first, 1, false)));
  for (const char* name : {"first.weight", "second.weight"})
    model.set_weight(name, Tensor({1, 1}, {1}));
  return model;
}

TEST(EarlyStopping, RestoresAllWeightsThoughALogThrowsThatHearsOfIt) {
  const Model model = product();
  const auto weights = [&] {
    return std::pair(model.weight("first.weight").item(), model.weight("second.weight").item());
  };
  bool armed = false;
  Options logged = options();
  logged.runtime.log_level = LogLevel::debug;
  logged.runtime.log = [&](std::string_view) {
    if (std::exchange(armed, false)) throw 7;
  };
  TrainingModel training(model, logged, Sgd{.learning_rate = 0.01});
  DataLoader data = numbers(16);
  std::pair<float, float> best;
  FitCallback watch;
  watch.on_epoch_end = [&](const EpochRecord& epoch) {
    if (epoch.epoch == 1) best = weights();
    armed = epoch.epoch == 2;  // The log is told next that the newest weights are read.
    return Next::go_on;
  };
  const FitCallback stopping =
      early_stopping({.monitor = "loss", .higher_is_better = true, .restore_best_weights = true});
  EXPECT_THROW(fit(training, data, {.epochs = 9, .callbacks = {watch, stopping}}), int);
  EXPECT_EQ(weights(), best);
}

TEST(EarlyStopping, CountsAnewInEveryTraining) {
  const FitCallback callback = early_stopping({.monitor = "loss"});
  for (int training = 0; training < 2; ++training) {
    callback.on_fit_begin({"loss"});
    EXPECT_EQ(callback.on_epoch_end({.values = {{"loss", 1}}}), Next::go_on);
    EXPECT_EQ(callback.on_epoch_end({.values = {{"loss", 1}}}), Next::stop);
  }
}

TEST(EarlyStopping, SaysThatItHasNoModelToRestore) {
  const FitCallback callback = early_stopping({.monitor = "loss", .restore_best_weights = true});
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] {
                      callback.on_epoch_end({.values = {{"loss", 1}}});
                    }),
            "early stopping: restore_best_weights: expected set_model to be called before the "
            "first epoch, as fit() does");
}

TEST(EarlyStopping, IsRefusedBeforeATrainingWithoutTheValue) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  InferenceModel inference(scaling.model, options());
  DataLoader data = numbers(16), validation = numbers(16);
  const auto refused = [&](const EarlyStopping& rule, FitOptions options) {
    options.callbacks = {early_stopping(rule)};
    return refusal(Errc::invalid_argument, [&] { fit(training, data, options); });
  };
  const std::string expected = "early stopping: monitor: expected a value of this training, ";
  const auto hint = [](const std::string& name) {
    return "; FitOptions::validation_model measures it if a metric is named \"" + name + "\"";
  };
  EXPECT_EQ(refused({}, {}), expected + "loss, got \"val_loss\"" + hint("loss"));
  EXPECT_EQ(refused({.monitor = "accuracy"}, {}), expected + "loss, got \"accuracy\"");
  EXPECT_EQ(refused({}, {.metrics = {mean_of("y")},
                         .validation_model = &inference,
                         .validation_data = &validation}),
            expected + "loss, y, val_y, got \"val_loss\"" + hint("loss"));
  EXPECT_EQ(refused({.monitor = "val_y"}, {.metrics = {mean_of("y")}}),
            expected + "loss, y, got \"val_y\"" + hint("y"));
  EXPECT_EQ(training.updates(), 0U);
}

TEST(EarlyStopping, NamesWhatItCannotUse) {
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { early_stopping({.monitor = ""}); }),
            "early stopping: monitor: expected a name, got none");
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { early_stopping({.patience = -1}); }),
            "early stopping: patience: expected 0 or more, got -1");
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { early_stopping({.min_delta = -1}); }),
            "early stopping: min_delta: expected 0 or more, got -1");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [] {
                      early_stopping({}).on_epoch_end({.values = {{"loss", 1}, {"accuracy", 1}}});
                    }),
            "there is no value named \"val_loss\"; there are: loss, accuracy");
}

}  // namespace
}  // namespace penstock
