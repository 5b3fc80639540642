// These tests check what fit() and evaluate() make of sums over micro-batches, and which option is
// named where there can be no sum.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/refusal.hpp"

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

/// Returns how a model is refused that computes an output of floats from bytes, if `anchors` are
/// asked for.
std::string refused(OutputMode mode, const std::vector<Anchor>& anchors) {
  Model model("bytes");
  const Value bytes = model.reshape(model.input("x", {3}, DType::u8), {3, 1});
  model.output("y", model.to_float(bytes));
  Options options{.batch_size = 2};
  options.output.mode = mode;
  options.output.anchors = anchors;
  for (Anchor& anchor : options.output.anchors) anchor.tensor = model.tensor_name(bytes);
  return testing::refusal(Errc::invalid_argument, [&] { InferenceModel(model, options); });
}

TEST(SummedOutputs, AreRefusedByTheOptionThatAsksForTheSum) {
  const std::string text =
      ": expected outputs of type f32 or i64 to sum up, but \"reshape_1\" is u8[2,3,1]; to_float() "
      "or to_i64() in the model makes one that can be summed up";
  EXPECT_EQ(refused(OutputMode::all, {{.name = "a"}, {.name = "b", .mode = OutputMode::sum}}),
            "options.output.anchors[1].mode" + text);
  EXPECT_EQ(refused(OutputMode::sum, {{.name = "a", .mode = OutputMode::sum}}),
            "options.output.anchors[0].mode" + text);
  EXPECT_EQ(refused(OutputMode::sum, {{.name = "a"}}), "options.output.mode" + text);
  EXPECT_EQ(refused(OutputMode::sum, {{.name = "a", .mode = OutputMode::all}}), "accepted");
}

}  // namespace
}  // namespace penstock
