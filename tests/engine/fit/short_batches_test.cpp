// F16 of docs/reference.md: the loss, and an output that is a mean over each micro-batch, weigh
// every sample the same even if the last micro-batches are shorter. The model is y = x, and its
// loss is the mean of y.
#include <gtest/gtest.h>

#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"

namespace penstock::testing {
namespace {

Model identity() {
  Model model("identity");
  const Value y = model.linear("fc", model.input("x", {1}), 1, false);
  const Value mean = model.identity_loss(y, LossReduction::mean);
  model.output("mean", mean);
  model.loss(mean);
  model.set_weight("fc.weight", Tensor({1, 1}, {1}));
  return model;
}

/// Returns options for micro-batches of two samples, updates of four and calls of eight, in one
/// replica or two.
Options returning(OutputMode mode, int replicas) {
  Options changed = options();
  changed.topology.replication_factor = replicas;
  changed.training.gradient_accumulation /= replicas;
  changed.output.mode = mode;
  return changed;
}

struct Case {
  OutputMode mode;
  std::int64_t samples;
  double loss;  ///< This is the mean over all samples.
  double mean;  ///< This is the mean over the samples that the output mode returns.
};

// With 21 samples, the last one is a micro-batch of its own. With 19 samples, the last three are
// shorter micro-batches.
TEST(ShortBatches, F16_WeighEverySampleOfTheLossTheSameInATraining) {
  const Case cases[] = {{OutputMode::all, 21, 10, 10},
                        {OutputMode::all, 19, 9, 9},
                        {OutputMode::all, 16, 7.5, 7.5},
                        {OutputMode::final, 21, 10, (6 + 7 + 14 + 15 + 20) / 5.0}};
  for (const auto& [mode, samples, loss, mean] : cases) {
    SCOPED_TRACE(std::string(to_string(mode)) + ", " + std::to_string(samples));
    TrainingModel training(identity(), returning(mode, 1), Sgd{.learning_rate = 0});
    DataLoader data = numbers(samples, per_step, false);
    const History history = fit(training, data, {.metrics = {mean_of("mean")}});
    EXPECT_EQ(value_of(history.epochs[0].values, "loss"), loss);
    EXPECT_EQ(value_of(history.epochs[0].values, "mean"), mean);
  }
}

TEST(ShortBatches, F16_WeighEverySampleOfALossTheSameInAnEvaluation) {
  for (const int replicas : {1, 2}) {
    InferenceModel inference(identity(), returning(OutputMode::all, replicas));
    for (const std::int64_t samples : {8, 7, 3, 1}) {
      DataLoader data = numbers(samples, per_step, false);
      const Evaluation evaluation = evaluate(inference, data, {mean_of("mean")});
      EXPECT_EQ(value_of(evaluation.values, "mean"), static_cast<double>(samples - 1) / 2)
          << samples << " samples, replicas: " << replicas;
    }
  }
}

TEST(ShortBatches, F16_AreCountedByWhatACallReturns) {
  TrainingModel training(identity(), returning(OutputMode::all, 2), Sgd{.learning_rate = 0});
  const auto rows_of = [&](std::int64_t samples) {
    DataLoader data = numbers(samples, samples, false);
    return training.step({data.next()->front()}).rows;
  };
  const auto expect = [](const MicroBatches& actual, std::int64_t count, std::int64_t samples) {
    EXPECT_EQ(actual.count, count);
    EXPECT_EQ(actual.samples, samples);
  };
  const OutputRows whole = rows_of(8), mixed = rows_of(7), shorter = rows_of(3);
  expect(whole.micro_batches, 4, 2);
  expect(whole.shorter, 0, 0);
  expect(mixed.micro_batches, 2, 2);
  expect(mixed.shorter, 3, 1);
  EXPECT_EQ(mixed.round, whole.round);
  expect(shorter.micro_batches, 3, 1);
  expect(shorter.shorter, 0, 0);
}

}  // namespace
}  // namespace penstock::testing
