// A host may destroy models inside the loop that uses them. These tests check that the loop goes on
// to its end with the models.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::testing {
namespace {

/// A Host has a Scaling with models to train and to evaluate it.
struct Host {
  Scaling scaling;
  std::optional<TrainingModel> training{std::in_place, scaling.model, options(),
                                        Sgd{.learning_rate = 0.01}};
  std::optional<InferenceModel> serving{std::in_place, scaling.model, inference_options()};
  DataLoader data = numbers(16), validation = numbers(16);

  static Options inference_options() {
    Options result = options();
    result.training.gradient_accumulation = 1;
    return result;
  }
  void end() {
    serving.reset();
    training.reset();
  }
  History fitted(const FitCallback& callback, const std::vector<Metric>& metrics = {mean_of("y")}) {
    return fit(*training, data,
               {.epochs = 2,
                .metrics = metrics,
                .validation_model = &*serving,
                .validation_data = &validation,
                .callbacks = {callback}});
  }
};

/// Returns callbacks with one function each, which calls `end`: one callback for each function.
std::vector<FitCallback> callbacks(const std::function<void()>& end) {
  const auto and_go_on = [end](const auto&...) {
    end();
    return Next::go_on;
  };
  return {{.on_fit_begin = [end](const auto&) { end(); }},
          {.on_epoch_begin = [end](int, std::int64_t) { end(); }},
          {.on_step_begin = [end](const Batch&) { end(); }},
          {.on_step_end = and_go_on},
          {.on_epoch_end = and_go_on}};
}

TEST(DestroyedModels, EndWithTheFitWhoseCallbackDestroysThem) {
  const std::size_t threads = thread_count();
  std::optional<Host> undisturbed{std::in_place};
  const History expected = undisturbed->fitted({});
  for (std::size_t kind = 0; kind < callbacks({}).size(); ++kind) {
    Host host;
    const History history = host.fitted(callbacks([&] { host.end(); })[kind]);
    EXPECT_FALSE(host.training) << "callback " << kind;
    EXPECT_EQ(history.updates, expected.updates);
    EXPECT_EQ(history.epochs.size(), 2U);
    EXPECT_EQ(host.scaling.weight(), undisturbed->scaling.weight());
  }
  undisturbed.reset();
  EXPECT_TRUE(threads_fall_to(threads));
}

/// Returns two metrics. Before anything else, the check of the first one and the score of the
/// second one call `end`.
std::vector<Metric> metrics(const std::function<void()>& end) {
  const Metric plain = mean_of("y");
  Metric checking = plain, scoring = plain;
  checking.check = [=](const auto&... arguments) {
    end();
    if (plain.check) plain.check(arguments...);
  };
  scoring.score = [=](const auto&... arguments) {
    end();
    return plain.score(arguments...);
  };
  return {checking, scoring};
}

TEST(DestroyedModels, EndWithTheFitWhoseMetricDestroysThem) {
  const std::vector<std::function<void(Host&)>> ends = {[](Host& host) { host.training.reset(); },
                                                        [](Host& host) { host.serving.reset(); },
                                                        [](Host& host) { host.end(); }};
  const std::size_t threads = thread_count();
  std::optional<Host> undisturbed{std::in_place};
  const History expected = undisturbed->fitted({}, {mean_of("y")});
  for (const auto& end : ends) {
    for (std::size_t kind = 0; kind < metrics({}).size(); ++kind) {
      Host host;
      const History history = host.fitted({}, {metrics([&] { end(host); })[kind]});
      EXPECT_FALSE(host.training && host.serving) << "metric " << kind;
      ASSERT_EQ(history.epochs.size(), expected.epochs.size());
      EXPECT_EQ(value_of(history.epochs[1].values, "val_y"),
                value_of(expected.epochs[1].values, "val_y"));
      EXPECT_EQ(host.scaling.weight(), undisturbed->scaling.weight());
    }
  }
  undisturbed.reset();
  EXPECT_TRUE(threads_fall_to(threads));
}

TEST(DestroyedModels, EndWithTheEvaluationWhoseFunctionsDestroyThem) {
  Host host;
  Metric metric = mean_of("y");
  const Evaluation expected = evaluate(*host.serving, host.data, {metric});
  const Evaluation evaluation = evaluate(*host.serving, host.data, {metric}, [&] { host.end(); });
  EXPECT_FALSE(host.serving);
  EXPECT_EQ(value_of(evaluation.values, metric.name), value_of(expected.values, metric.name));
}

}  // namespace
}  // namespace penstock::testing
