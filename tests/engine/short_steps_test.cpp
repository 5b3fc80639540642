// These tests make calls of fewer samples than a full one.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

TEST(ShortSteps, R2_6_TrainAsAModelOfThatSizeWould) {
  const std::int64_t remainder = 6;  // Six samples are two micro-batches of three.
  const Optimizer optimizer = AdamW{.learning_rate = 0.1};
  const Model model = plain_model(), twin = plain_model();
  Options options = options_for(4, 2, 2);
  options.output.mode = OutputMode::all;
  TrainingModel training(model, options, optimizer);
  const auto data = samples(8 + remainder, false);
  const StepResult result = training.step(data);
  EXPECT_EQ(training.updates(), 2U);
  EXPECT_EQ(result.output("y").shape(), (Shape{8 + remainder, 4}));
  EXPECT_EQ(result.loss.shape(), (Shape{2 + 2}));

  Options first = options_for(4, 2, 1), second = options_for(3, 2, 1);
  TrainingModel before(twin, first, optimizer);
  before.step({data[0].rows(0, 8), data[1].rows(0, 8)});
  TrainingModel after(twin, second, optimizer);
  after.set_optimizer_state(before.optimizer_state());
  after.step({data[0].rows(8, 14), data[1].rows(8, 14)});
  expect_same_weights(model, twin);
}

TEST(ShortSteps, R2_6_GoOnWithWholeOnesAndReturnWhatTheLastUpdateDid) {
  const Model model = plain_model();
  TrainingModel training(model, options_for(2, 2, 2), AdamW{});
  EXPECT_EQ(training.step(samples(7, false)).output("y").shape(), (Shape{1, 4}));
  EXPECT_EQ(training.step(samples(8, false)).output("y").shape(), (Shape{2, 4}));
  EXPECT_EQ(training.step(samples(2, false)).output("y").shape(), (Shape{2, 4}));
  EXPECT_EQ(training.updates(), 2U + 2U + 1U);
  training.detach();
  training.step(samples(3, false));
  EXPECT_EQ(training.updates(), 6U);
}

TEST(ShortSteps, R2_6_TakeOverTheOptimizersStateWhereverItIsKept) {
  const auto trained = [](bool elsewhere) {
    Options options = options_for(2, 2, 1);
    options.topology.replication_factor = 2;
    options.training.offload.optimizer_state.on = elsewhere;
    options.training.sharding.optimizer_state = {.on = elsewhere, .minimum_elements = 2};
    const Model model = plain_model();
    TrainingModel training(model, options, AdamW{.learning_rate = 0.1});
    for (const std::int64_t count : {8, 5, 8, 3}) training.step(samples(count, false));
    EXPECT_EQ(training.updates(), 4U);
    return model;
  };
  expect_same_weights(trained(true), trained(false));
}

// The plans for short steps have one replica and one update, although the host has not asked for
// that.
TEST(ShortSteps, R2_6_WarnOfNothingThatWasNotSaidOfWholeOnes) {
  Options options = options_for(2, 4, 1);
  options.topology.replication_factor = 2;
  options.topology.ipus = {0, 1};
  options.training.sharding.optimizer_state = {.on = true, .minimum_elements = 2};
  std::vector<std::string> lines;
  options.runtime.log = [&](std::string_view line) { lines.emplace_back(line); };
  options.runtime.log_level = LogLevel::warning;
  const Model model = plain_model();
  TrainingModel training(model, options, AdamW{});
  InferenceModel serving(model, options);
  const std::size_t of_whole_ones = lines.size();
  training.step(samples(16, false));
  training.step(samples(3, false));
  serving.run({samples(3, false)[0]});
  EXPECT_EQ(lines.size(), of_whole_ones) << lines.back();
}

TEST(ShortSteps, R2_6_AreRefusedWhereShapesAreStatic) {
  const Model model = plain_model();
  Options options = options_for(2, 2, 2);
  options.static_shapes = true;
  TrainingModel training(model, options);
  InferenceModel serving(model, options);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { training.step(samples(4, false)); }),
            "step: expected 8 samples (batch size x gradient accumulation x device iterations x "
            "replicas), for options.static_shapes is set, got 4");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { serving.run({samples(3, false)[0]}); }),
            "run: expected 4 samples (batch size x device iterations x replicas), for "
            "options.static_shapes is set, got 3");
  training.step(samples(8, false));
  serving.run({samples(4, false)[0]});
  EXPECT_EQ(training.updates(), 2U);
}

TEST(ShortSteps, R2_6_AreRefusedWhereOutputsWouldMixSizes) {
  const Model model = plain_model();
  for (const OutputMode mode : {OutputMode::sum, OutputMode::every_n}) {
    Options options = options_for(2, 2, 2);
    options.output.mode = mode;
    TrainingModel training(model, options);
    EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { training.step(samples(3, false)); }),
              "step: expected a multiple of 4 samples, for the output mode is " +
                  std::string(to_string(mode)) + ", got 3");
    EXPECT_EQ(training.updates(), 0U);
  }
}

// The output has the similarities of the samples of a micro-batch with each other. So it has as
// many columns as the micro-batch has samples.
TEST(ShortSteps, R2_6_AreRefusedBeforeAnythingRanWhereOutputsCannotBeJoined) {
  Model model("similar", 3);
  const Value x = model.linear("fc", model.input("x", {4}), 4);
  model.output("similarity", model.matmul(x, model.transpose(x, {1, 0})));
  model.loss(model.cross_entropy(x, model.labels()));
  Options options = options_for(4, 1, 2);
  options.output.mode = OutputMode::all;
  TrainingModel training(model, options);
  InferenceModel serving(model, options);
  const Tensor before = model.weight("fc.weight");
  const std::string text =
      "output \"similarity\": its rows are of [4,4] in micro-batches of 4 samples and of [2,2] in "
      "those of 2, which cannot be put one after the other";
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { training.step(samples(6, false)); }),
            "step of 6 samples, of which 2 fill no update (one takes 4): " + text);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { serving.run({samples(6, false)[0]}); }),
            "run of 6 samples, of which 2 fill no micro-batch for every replica (4): " + text);
  EXPECT_EQ(training.updates(), 0U);
  EXPECT_TRUE(same_bits(model.weight("fc.weight"), before));
  EXPECT_EQ(training.step(samples(2, false)).output("similarity").shape(), (Shape{2, 2}));
  EXPECT_EQ(serving.run({samples(8, false)[0]}).output("similarity").shape(), (Shape{8, 4}));
}

TEST(ShortSteps, R2_6_ThatCannotBeTrainedAreRefusedAndLeaveTheModelAsItWas) {
  Model model("norm", 3);
  const Value x = model.reshape(model.linear("fc", model.input("x", {4}), 4), {4, 1, 1});
  model.loss(model.cross_entropy(model.flatten(model.batch_norm2d("norm", x)), model.labels()));
  TrainingModel training(model, options_for(4, 2, 1));
  training.step(samples(8, false));
  // Seven samples are seven micro-batches of one.
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { training.step(samples(7, false)); }),
            "step of 7 samples, of which 7 fill no update (one takes 8): model \"norm\": "
            "batch_norm \"norm\": expected more than one value per channel to train on, got "
            "f32[1,4,1,1]");
  EXPECT_EQ(training.updates(), 1U);
  training.step(samples(6, false));
  EXPECT_EQ(training.updates(), 2U);
}

TEST(ShortSteps, R2_6_AreGivenTheOptimizerOnlyWhenAnotherOneWasSet) {
  Options options = options_for(4, 1, 1);
  int lines = 0;
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [&](std::string_view line) {
    lines += line.find("new constants") != std::string_view::npos;
  };
  TrainingModel training(plain_model(), options, AdamW{});
  for (int i = 0; i < 3; ++i) training.step(samples(3, false));
  EXPECT_EQ(lines, 0);
  training.set_optimizer(AdamW{.learning_rate = 0.1});
  EXPECT_EQ(lines, 1);
  for (int i = 0; i < 3; ++i) training.step(samples(3, false));
  EXPECT_EQ(lines, 2);
}

}  // namespace
}  // namespace penstock::testing
