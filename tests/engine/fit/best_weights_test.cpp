#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/fit_callbacks.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::options;
using testing::refusal;
using testing::Scaling;

/// A Trained has the results of a training whose loss falls with every update.
struct Trained {
  std::vector<float> weights;  // This has the weight after each epoch.
  float last = 0;              // This is the weight after fit().
  std::size_t epochs = 0;

  /// The value called "watched" of epoch i is `watched[i]`.
  explicit Trained(const BestWeights& best, const std::vector<double>& watched) {
    Scaling scaling;
    TrainingModel training(scaling.model, options(), Sgd{.learning_rate = 0.01});
    DataLoader data = numbers(16);
    int epoch = 0;
    const Metric metric{.name = "watched", .score = [&](const StepResult&, const Batch&) {
                          return Score{watched[static_cast<std::size_t>(epoch)], 1};
                        }};
    FitCallback watch;
    watch.on_epoch_end = [&](const EpochRecord&) {
      weights.push_back(scaling.weight());
      ++epoch;
      return Next::go_on;
    };
    const History history = fit(training, data,
                                {.epochs = static_cast<int>(watched.size()),
                                 .metrics = {metric},
                                 .callbacks = {best_weights(best), watch}});
    epochs = history.epochs.size();
    last = scaling.weight();
  }
};

TEST(BestWeights, AreThoseOfTheFirstBestEpochOfAWholeTraining) {
  const Trained lowest({.monitor = "watched"}, {3, 1, 2, 1, 5});
  EXPECT_EQ(lowest.epochs, 5U);
  EXPECT_EQ(lowest.last, lowest.weights[1]);
  EXPECT_NE(lowest.weights[1], lowest.weights[4]);
  const Trained highest({.monitor = "watched", .higher_is_better = true}, {3, 1, 2, 5, 4});
  EXPECT_EQ(highest.last, highest.weights[3]);
}

TEST(BestWeights, AreTheLastOnesIfTheLastEpochIsTheBest) {
  const Trained trained({.monitor = "watched"}, {3, 2, 1});
  EXPECT_EQ(trained.last, trained.weights[2]);
}

TEST(BestWeights, AreNeverThoseOfAValueThatIsNoNumber) {
  const Trained trained({.monitor = "watched"}, {std::nan(""), 2, std::nan("")});
  EXPECT_EQ(trained.last, trained.weights[1]);
  const Trained none({.monitor = "watched"}, {std::nan(""), std::nan("")});
  EXPECT_EQ(none.last, none.weights[1]);
}

TEST(BestWeights, AreRefusedWithoutTheirValue) {
  Scaling scaling;
  TrainingModel training(scaling.model, options());
  DataLoader data = numbers(16);
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] { fit(training, data, {.callbacks = {best_weights()}}); }),
            "best weights: monitor: expected a value of this training, loss, got \"val_loss\"; "
            "FitOptions::validation_model measures it if a metric is named \"loss\"");
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { best_weights({.monitor = ""}); }),
            "best weights: monitor: expected a name, got none");
  EXPECT_EQ(training.updates(), 0U);
}

}  // namespace
}  // namespace penstock
