// These tests check how fit() and evaluate() use the states of metrics that are no means.
#include "engine/fit/metric_states.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::refusal;
using testing::Scaling;

/// Calls count how often functions of states are called.
struct Calls {
  int added = 0, asked = 0;
};

/// A Largest is the largest number of the output "y".
class Largest : public MetricState {
 public:
  explicit Largest(Calls& calls) : calls_(calls) {}
  void add(const StepResult& result, const Batch&) override {
    ++calls_.added;
    for (const float number : result.output("y").as<float>()) most_ = std::max(most_, number);
  }
  void merge(const MetricState& other) override {
    most_ = std::max(most_, static_cast<const Largest&>(other).most_);
  }
  double value() const override {
    ++calls_.asked;
    return most_;
  }

 private:
  Calls& calls_;
  float most_ = -std::numeric_limits<float>::infinity();
};

Metric largest(Calls& calls) {
  return {.name = "largest", .start = [&calls] { return std::make_unique<Largest>(calls); }};
}

/// Returns a loader of numbers that fall from step to step.
DataLoader falling() {
  std::vector<float> x;
  for (int i = 32; i > 0; --i) x.push_back(static_cast<float>(i));
  return {tensor_dataset({Tensor({32, 1}, std::span<const float>(x))}),
          testing::per_step,
          {.mode = LoaderMode::sync, .workers = 0}};
}

TEST(MetricStates, CountEachStepAloneAndAllStepsOfAnEpoch) {
  Scaling scaling;
  TrainingModel training(scaling.model, testing::options(), Sgd{.learning_rate = 0});
  DataLoader data = falling();
  Calls calls;
  std::vector<double> of_steps;
  FitCallback watch;
  watch.on_step_end = [&](const StepRecord& step, const StepResult&) {
    of_steps.push_back(value_of(step.values, "largest"));
    return Next::go_on;
  };
  const History history =
      fit(training, data, {.epochs = 2, .metrics = {largest(calls)}, .callbacks = {watch}});
  EXPECT_EQ(of_steps, (std::vector<double>{32, 24, 16, 8, 32, 24, 16, 8}));
  for (const EpochRecord& epoch : history.epochs) EXPECT_EQ(value_of(epoch.values, "largest"), 32);
  EXPECT_EQ(calls.added, 8);
}

TEST(MetricStates, CountAllRunsOfAnEvaluation) {
  Scaling scaling;
  Options options = testing::options();
  options.device_iterations = 1;
  InferenceModel inference(scaling.model, options);
  DataLoader data = falling();
  Calls calls;
  const Evaluation evaluation = evaluate(inference, data, {largest(calls), mean_of("y")});
  EXPECT_EQ(value_of(evaluation.values, "largest"), 32);
  EXPECT_EQ(value_of(evaluation.values, "y"), 16.5);
  EXPECT_EQ(calls.added, 16);
  EXPECT_EQ(calls.asked, 1);
}

/// A Stopping is a state that asks for a stop in one of its functions, and counts in `after` the
/// calls of all functions that come afterwards.
class Stopping : public MetricState {
 public:
  Stopping(std::string_view stops_in, std::stop_source& stop, int& after)
      : stops_in_(stops_in), stop_(stop), after_(after) {}
  void add(const StepResult&, const Batch&) override { called("add"); }
  void merge(const MetricState&) override { called("merge"); }
  double value() const override {
    called("value");
    return 0;
  }

 private:
  void called(std::string_view function) const {
    after_ += stop_.stop_requested();
    if (function == stops_in_) stop_.request_stop();
  }
  std::string_view stops_in_;
  std::stop_source& stop_;
  int& after_;
};

/// Returns how many functions of the host's metrics are called in a training after a stop that is
/// asked for in the function `stops_in`.
int calls_after_stop(std::string_view stops_in) {
  Scaling scaling;
  TrainingModel training(scaling.model, testing::options(), Sgd{.learning_rate = 0});
  DataLoader data = falling();
  std::stop_source stop;
  int after = 0;
  const auto start = [&] { return std::make_unique<Stopping>(stops_in, stop, after); };
  FitCallback watch;
  watch.on_step_end = [](const StepRecord&, const StepResult&) { return Next::go_on; };
  const History history =
      fit(training, data,
          {.epochs = 2,
           .metrics = {{.name = "a", .start = start}, {.name = "b", .start = start}},
           .callbacks = {watch}},
          stop.get_token());
  EXPECT_TRUE(history.cancelled);
  EXPECT_TRUE(history.epochs.empty());
  return after;
}

TEST(MetricStates, AreLeftAloneOnceAStopIsAskedFor) {
  for (const char* function : {"add", "merge", "value"})
    EXPECT_EQ(calls_after_stop(function), 0) << function;
}

TEST(MetricStates, AreAskedForInsteadOfAScore) {
  Scaling scaling;
  InferenceModel inference(scaling.model, testing::options());
  DataLoader data = numbers(16);
  Calls calls;
  Metric both = largest(calls);
  both.score = mean_of("y").score;
  const auto refused = [&](const Metric& metric) {
    return refusal(Errc::invalid_argument, [&] { evaluate(inference, data, {metric}); });
  };
  EXPECT_EQ(refused(both),
            "metrics: expected a name and a function score or start each, got \"largest\" with "
            "both");
  EXPECT_EQ(refused({.name = "empty", .start = [] { return std::unique_ptr<MetricState>(); }}),
            "metric \"empty\": expected a state from its function start, got none");
}

TEST(MetricStates, OfTheEngineMergeWithNoOther) {
  Calls calls;
  const auto state = perplexity("y").start(), other = largest(calls).start();
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { state->merge(*other); }),
            "MetricState::merge: expected a state of the same metric, got another one");
}

}  // namespace
}  // namespace penstock
