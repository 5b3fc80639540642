#include "penstock/model_average.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "penstock/error.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::options;
using testing::refusal;
using testing::Scaling;

float weight_of(const Model& model) {
  return model.weight("fc.weight").item();
}

/// Returns `average` after the newest weights `weights`, one after the other.
float followed(float average, const std::vector<float>& weights, double decay) {
  const auto inflow = static_cast<float>(1 - decay);
  for (const float weight : weights) average += inflow * (weight - average);
  return average;
}

/// A Watched is a training that notes the weight after each step.
struct Watched {
  Scaling scaling;
  TrainingModel training{scaling.model, options(), Sgd{.learning_rate = 0.01, .momentum = 0.9}};
  std::vector<float> weights;

  History fit(int epochs, std::vector<FitCallback> callbacks, FitOptions fit_options = {}) {
    DataLoader data = numbers(24);
    FitCallback watch;
    watch.on_step_end = [&](const StepRecord&, const StepResult&) {
      weights.push_back(scaling.weight());
      return Next::go_on;
    };
    fit_options.epochs = epochs;
    fit_options.callbacks = std::move(callbacks);
    fit_options.callbacks.push_back(watch);
    return penstock::fit(training, data, fit_options);
  }
};

TEST(ModelAverage, FollowsTheWeightsAfterEachStep) {
  Watched watched;
  const ModelAverage average(watched.scaling.model, {.decay = 0.9});
  EXPECT_EQ(weight_of(average.model()), 1);
  watched.fit(2, {average.callback()});
  ASSERT_EQ(watched.weights.size(), 6U);
  EXPECT_EQ(weight_of(average.model()), followed(1, watched.weights, 0.9));
  EXPECT_NE(weight_of(average.model()), watched.weights.back());
}

TEST(ModelAverage, IsUpdatedAfterTheStepsThatAreAskedFor) {
  Watched watched;
  const ModelAverage average(watched.scaling.model, {.decay = 0.5, .every_steps = 2});
  watched.fit(2, {average.callback()});
  ASSERT_EQ(watched.weights.size(), 6U);
  EXPECT_EQ(weight_of(average.model()),
            followed(1, {watched.weights[1], watched.weights[3], watched.weights[5]}, 0.5));
}

// An epoch has 3 steps, fewer than the average asks for.
TEST(ModelAverage, CountsStepsAcrossEpochsAndTrainings) {
  Watched watched;
  const ModelAverage average(watched.scaling.model, {.decay = 0.5, .every_steps = 4});
  const FitCallback callback = average.callback();
  watched.fit(1, {callback});
  EXPECT_EQ(weight_of(average.model()), 1);
  watched.fit(2, {callback});
  ASSERT_EQ(watched.weights.size(), 9U);
  EXPECT_EQ(weight_of(average.model()), followed(1, {watched.weights[3], watched.weights[7]}, 0.5));
  watched.fit(2, {average.callback()});  // The first step of this training is number 1 again.
  ASSERT_EQ(watched.weights.size(), 15U);
  EXPECT_EQ(weight_of(average.model()),
            followed(1, {watched.weights[3], watched.weights[7], watched.weights[12]}, 0.5));
}

TEST(ModelAverage, ChangesNoBitOfTheTraining) {
  Watched with, without;
  const ModelAverage average(with.scaling.model);
  with.fit(2, {average.callback()});
  without.fit(2, {});
  EXPECT_EQ(with.weights, without.weights);
}

// The mean of y = w·x is the weight times the mean of x, which is 11.5.
TEST(ModelAverage, IsEvaluatedByAModelOfItsOwn) {
  Watched watched;
  const ModelAverage average(watched.scaling.model, {.decay = 0.9});
  InferenceModel validation(average.model(), options());
  DataLoader data = numbers(24);
  const History history = watched.fit(
      2, {average.callback()},
      {.metrics = {mean_of("y")}, .validation_model = &validation, .validation_data = &data});
  for (const std::size_t epoch : {0, 1}) {
    const auto end = watched.weights.begin() + 3 * (static_cast<std::ptrdiff_t>(epoch) + 1);
    const float expected = followed(1, {watched.weights.begin(), end}, 0.9);
    EXPECT_NEAR(value_of(history.epochs[epoch].values, "val_y"), expected * 11.5, 1e-5);
  }
}

TEST(ModelAverage, GoesOnFromAFile) {
  const testing::TemporaryDirectory directory;
  const std::string path = (directory / "average").string();
  Watched watched;
  const ModelAverage first(watched.scaling.model, {.decay = 0.9});
  watched.fit(1, {first.callback()});
  first.model().save_weights(path);
  const ModelAverage second(watched.scaling.model, {.decay = 0.9});
  Model(second.model()).load_weights(path);
  watched.fit(1, {second.callback()});
  EXPECT_EQ(weight_of(second.model()), followed(1, watched.weights, 0.9));
}

TEST(ModelAverage, HasTheBuffersOfTheModelAndIsUpdatedByHand) {
  Model model("norm");
  model.loss(model.identity_loss(model.batch_norm2d("bn", model.input("x", {1, 2, 2}))));
  const ModelAverage average(model, {.decay = 0.75});
  model.set_weight("bn.running_mean", Tensor({1}, {3}));
  model.set_weight("bn.weight", Tensor({1}, {5}));
  average.update();
  EXPECT_EQ(average.model().weight("bn.running_mean").item(), 3);
  EXPECT_EQ(average.model().weight("bn.weight").item(), 2);
  EXPECT_EQ(model.weight("bn.weight").item(), 5);
}

TEST(ModelAverage, RefusesWhatIsNoAverage) {
  const Scaling scaling;
  for (const double decay : {1.0, -0.1, std::nan("")})
    EXPECT_NE(
        refusal(Errc::invalid_argument, [&] { ModelAverage(scaling.model, {.decay = decay}); })
            .find("model average: decay: expected 0 or more and below 1, got "),
        std::string::npos);
  EXPECT_EQ(
      refusal(Errc::invalid_argument, [&] { ModelAverage(scaling.model, {.every_steps = 0}); }),
      "model average: every_steps: expected 1 or more, got 0");
}

}  // namespace
}  // namespace penstock
