// These tests check what fit() reports of a loss and of outputs if no call returns any of their
// values.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"

namespace penstock {
namespace {

TEST(UnreturnedLoss, F16_IsToldAllTheSameAndAnOutputThatIsNotReturnedIsNoGain) {
  testing::Scaling scaling;
  Options options = testing::options();
  options.output = {.mode = OutputMode::every_n, .period = 5};
  TrainingModel training(scaling.model, options);
  const auto& warnings = training.compile_report().warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0],
            "options.output.mode every_n returns nothing: a call has 4 micro-batches per replica, "
            "fewer than options.output.period, 5");
  DataLoader data = testing::numbers(testing::per_step);
  const History history = fit(
      training, data,
      {.epochs = 4, .metrics = {mean_of("y")}, .callbacks = {early_stopping({.monitor = "y"})}});
  EXPECT_EQ(history.epochs.size(), 1U);
  EXPECT_TRUE(std::isfinite(value_of(history.epochs[0].values, "loss")));
  EXPECT_TRUE(std::isnan(value_of(history.epochs[0].values, "y")));
}

// A call of eight samples has a third micro-batch, which is returned. A call of four samples has no
// third micro-batch.
TEST(UnreturnedLoss, F16_IsOfAllSamplesOfAShorterCallToo) {
  testing::Scaling scaling;
  Options options = testing::options();
  options.output = {.mode = OutputMode::every_n, .period = 3};
  TrainingModel training(scaling.model, options, Sgd{.learning_rate = 0});
  DataLoader data = testing::numbers(12, testing::per_step, false);
  std::vector<double> losses;
  FitCallback callback;
  callback.on_step_end = [&](const StepRecord& record, const StepResult&) {
    losses.push_back(value_of(record.values, "loss"));
    return Next::go_on;
  };
  const History history = fit(training, data, {.callbacks = {callback}});
  EXPECT_EQ(value_of(history.epochs[0].values, "loss"), 5.5);
  EXPECT_EQ(losses, (std::vector{3.5, 9.5}));
}

}  // namespace
}  // namespace penstock
