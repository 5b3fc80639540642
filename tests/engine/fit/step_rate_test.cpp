// These tests check what the samples per second of a step count. The time of sleeps is only
// subtracted from other times, so that a slow machine does not make the tests fail.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"

namespace penstock {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

TEST(StepRate, G4_IsOfTheWaitForDataAndTheCallWithoutMetricsAndCallbacks) {
  testing::Scaling scaling;
  TrainingModel training(scaling.model, testing::options());
  DataLoader data = testing::numbers(testing::per_step);
  const auto sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  double slept = 0, until_scored = 0, rate = 0;
  const auto begin = Clock::now();
  FitCallback callback;
  callback.on_step_begin = [&](const Batch&) {
    const auto before = Clock::now();
    sleep();
    slept = seconds_since(before);
  };
  callback.on_step_end = [&](const StepRecord& record, const StepResult&) {
    rate = record.samples_per_second;
    return Next::go_on;
  };
  const Metric slow{"slow", [&](const StepResult&, const Batch&) {
                      until_scored = seconds_since(begin);
                      sleep();
                      return Score{0, 1};
                    }};
  fit(training, data, {.metrics = {slow}, .callbacks = {callback}});
  EXPECT_GE(rate, static_cast<double>(testing::per_step) / (until_scored - slept));
}

}  // namespace
}  // namespace penstock
