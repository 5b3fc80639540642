#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::Scaling;

TEST(Evaluate, G5_WeighsEverySampleTheSameInAShorterLastBatchToo) {
  Scaling scaling;
  InferenceModel inference(scaling.model, {.batch_size = 2});
  DataLoader data = numbers(7, 2, false);
  int batches = 0;
  const Evaluation evaluation = evaluate(inference, data, {mean_of("y")}, [&] { ++batches; });
  EXPECT_EQ(value_of(evaluation.values, "y"), 3);
  EXPECT_EQ(batches, 4);
  EXPECT_GT(evaluation.samples_per_second, 0);
}

/// A batch has 24 samples, as many as a step of training takes. A run takes 8 samples.
TEST(Evaluate, D4_TakesTheBatchesOfATrainingInRunsOfItsOwn) {
  Scaling scaling;
  Options options{.batch_size = 2, .device_iterations = 2, .topology = {.replication_factor = 2}};
  options.training.gradient_accumulation = 3;
  InferenceModel inference(scaling.model, options);
  ASSERT_EQ(inference.samples_per_run(), 8);
  std::vector<std::int64_t> runs;
  const Metric by_label{"by label", [&](const StepResult& result, const Batch& batch) {
                          const auto y = result.output("y").as<float>();
                          const auto labels = batch.back().as<std::int64_t>();
                          EXPECT_TRUE(std::ranges::equal(y, labels));
                          runs.push_back(std::ssize(labels));
                          return Score{std::accumulate(y.begin(), y.end(), 0.0), std::ssize(y)};
                        }};
  for (const std::int64_t samples : {48, 47, 41, 25, 24, 7}) {
    DataLoader data = numbers(samples, options.samples_per_step(), false);
    runs.clear();
    const Evaluation evaluation = evaluate(inference, data, {by_label});
    EXPECT_EQ(value_of(evaluation.values, "by label"), static_cast<double>(samples - 1) / 2);
    std::vector<std::int64_t> expected(static_cast<std::size_t>(samples / 8), 8);
    if (samples % 8 != 0) expected.push_back(samples % 8);
    EXPECT_EQ(runs, expected);

    const Tensor y = predict(inference, data)[0].tensor;
    ASSERT_EQ(y.shape(), (Shape{samples, 1}));
    for (std::size_t i = 0; i < y.as<float>().size(); ++i)
      EXPECT_EQ(y.as<float>()[i], static_cast<float>(i));
  }
}

TEST(Evaluate, TellsALossThatIsAnOutput) {
  Model model("m");
  const Value x = model.input("x", {1});
  const Value loss = model.identity_loss(x, LossReduction::mean);
  model.output("loss", loss);
  InferenceModel inference(model, {.batch_size = 2});
  DataLoader data = numbers(4, 2);
  EXPECT_EQ(value_of(evaluate(inference, data, {mean_of("loss")}).values, "loss"), 1.5);
}

TEST(Evaluate, SaysHowManySamplesItHasCountedAndLeftOut) {
  Scaling scaling;
  InferenceModel inference(scaling.model, {.batch_size = 2});
  DataLoader whole_batches = numbers(10, 4, true), every_sample = numbers(10, 4, false);
  const Evaluation of_some = evaluate(inference, whole_batches, {mean_of("y")});
  EXPECT_EQ(of_some.samples, 8);
  EXPECT_EQ(of_some.left_out, 2);
  const Evaluation of_all = evaluate(inference, every_sample, {mean_of("y")});
  EXPECT_EQ(of_all.samples, 10);
  EXPECT_EQ(of_all.left_out, 0);
}

TEST(Evaluate, TellsAnEpochsRecordHowManySamplesItHasCountedAndLeftOut) {
  Scaling scaling;
  TrainingModel training(scaling.model, testing::options());
  InferenceModel inference(scaling.model, {.batch_size = 2});
  DataLoader data = numbers(16), validation = numbers(10, 4, true);
  const History history = fit(training, data,
                              {.epochs = 2,
                               .metrics = {mean_of("y")},
                               .validation_model = &inference,
                               .validation_data = &validation});
  for (const EpochRecord& epoch : history.epochs) {
    EXPECT_EQ(epoch.validation_samples, 8);
    EXPECT_EQ(epoch.validation_left_out, 2);
  }
}

}  // namespace
}  // namespace penstock
