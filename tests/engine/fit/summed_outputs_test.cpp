// These tests check what fit() and evaluate() make of sums over micro-batches.
#include <gtest/gtest.h>

#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"

namespace penstock {
namespace {

using testing::numbers;

/// Trains for an epoch and evaluates. Returns the means of all values with the names of the values.
std::vector<NamedValue> means(OutputMode mode, int replicas, std::int64_t samples) {
  testing::Scaling scaling;
  Options options = testing::options();
  options.output.mode = mode;
  options.topology.replication_factor = replicas;
  TrainingModel training(scaling.model, options, Sgd{.learning_rate = 0});
  InferenceModel inference(scaling.model, options);
  DataLoader data = numbers(samples, options.samples_per_step(), false);
  const History history =
      fit(training, data,
          {.metrics = {mean_of("y")}, .validation_model = &inference, .validation_data = &data});
  return history.epochs[0].values;
}

// With twelve samples and one replica, the second step is one update.
TEST(SummedOutputs, F16_HaveTheMeanThatTheyAreTheSumOf) {
  for (const int replicas : {1, 2})
    for (const std::int64_t samples : {16, 12, 32}) {
      if (samples % (testing::per_update * replicas) != 0) continue;
      for (const OutputMode mode : {OutputMode::all, OutputMode::sum})
        for (const auto& [name, value] : means(mode, replicas, samples))
          EXPECT_EQ(value, static_cast<double>(samples - 1) / 2)
              << name << ", " << to_string(mode) << ", " << replicas << ", " << samples;
    }
}

}  // namespace
}  // namespace penstock
