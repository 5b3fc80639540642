#include <gtest/gtest.h>

#include <cmath>
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

/// How many epochs a training has whose epochs end with such values of "loss".
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
  EXPECT_EQ(refused({}, {}), expected + "loss, got \"val_loss\"");
  EXPECT_EQ(refused({}, {.metrics = {mean_of("y")},
                         .validation_model = &inference,
                         .validation_data = &validation}),
            expected + "loss, y, val_y, got \"val_loss\"");
  EXPECT_EQ(refused({.monitor = "val_y"}, {.metrics = {mean_of("y")}}),
            expected + "loss, y, got \"val_y\"");
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
