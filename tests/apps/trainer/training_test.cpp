#include "apps/trainer/training.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace trainer {
namespace {

using penstock::Batch;
using penstock::DataLoader;
using penstock::StepResult;
using penstock::Tensor;

constexpr std::int64_t samples_per_update = 4;
constexpr std::int64_t samples_per_micro_batch = 2;

/// Sample i has the image i and the label i % 2.
DataLoader counting_loader(std::int64_t samples, std::int64_t samples_per_step) {
  std::vector<float> images(static_cast<std::size_t>(samples));
  std::iota(images.begin(), images.end(), 0.0F);
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < samples; ++i) labels.push_back(i % 2);
  const auto dataset = penstock::tensor_dataset(
      {Tensor({samples, 1}, std::span<const float>(images)),
       Tensor(penstock::Shape{samples}, std::span<const std::int64_t>(labels))});
  return DataLoader(dataset, samples_per_step, {.mode = penstock::LoaderMode::sync, .workers = 0});
}

/// Stands in for a model: a micro-batch's loss is its first image, and class 0 always wins.
StepResult fake_step(const Batch& batch) {
  const auto images = batch[0].as<float>();
  std::vector<float> losses, scores;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (i % samples_per_micro_batch == 0) losses.push_back(images[i]);
    scores.insert(scores.end(), {1, 0});
  }
  const auto rows = static_cast<std::int64_t>(images.size());
  const auto micro_batches = static_cast<std::int64_t>(losses.size());
  StepResult result;
  result.loss = Tensor(penstock::Shape{micro_batches}, std::span<const float>(losses));
  result.outputs = {{"scores", Tensor({rows, 2}, std::span<const float>(scores))}};
  return result;
}

struct Record {
  std::vector<std::int64_t> announced_steps;
  std::vector<StepMetrics> steps;
  std::vector<float> first_images;  ///< of each step
};

/// Trains on 20 samples, 8 per step.
Record trained(int epochs, std::optional<std::int64_t> max_updates) {
  Record record;
  DataLoader loader = counting_loader(20, 8);
  const TrainingPlan plan{.epochs = epochs,
                          .max_updates = max_updates,
                          .samples_per_update = samples_per_update,
                          .samples_per_step = 8};
  const TrainingEvents events{
      [&](int, std::int64_t steps) { record.announced_steps.push_back(steps); },
      [&](const StepMetrics& step) { record.steps.push_back(step); }};
  const TrainingStep step = [&](const Batch& batch) {
    record.first_images.push_back(batch[0].as<float>().front());
    return fake_step(batch);
  };
  EXPECT_GT(train(loader, plan, "scores", step, events), 0);
  return record;
}

TEST(Training, CountsStepsPerEpochAndUpdatesPerRun) {
  const Record record = trained(2, {});
  ASSERT_EQ(record.steps.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(record.steps[i].epoch, i < 2 ? 1 : 2);
    EXPECT_EQ(record.steps[i].step, i % 2 + 1);
    EXPECT_EQ(record.steps[i].updates, 2 * (i + 1));
  }
  EXPECT_EQ(record.first_images, (std::vector<float>{0, 8, 0, 8}));
}

TEST(Training, ReportsEveryLossAndTheShareOfRightAnswers) {
  const StepMetrics step = trained(1, {}).steps.at(1);
  EXPECT_EQ(step.losses, (std::vector<float>{8, 10, 12, 14}));
  EXPECT_EQ(step.accuracy, 0.5);
  EXPECT_GT(step.samples_per_second, 0);
}

TEST(Training, TheLastStepIsShortenedToTheLastUpdate) {
  const Record record = trained(100, 7);
  ASSERT_EQ(record.steps.size(), 4U);
  EXPECT_EQ(record.steps.back().updates, 7U);
  EXPECT_EQ(record.steps.back().losses, (std::vector<float>{8, 10}));
  EXPECT_EQ(record.steps.back().epoch, 2);
}

TEST(Training, StopsWithoutAStepTooManyWhenUpdatesEndWithAStep) {
  EXPECT_EQ(trained(100, 4).steps.size(), 2U);
  EXPECT_EQ(trained(100, 4).announced_steps.size(), 1U);
}

TEST(Training, EpochsEndTheRunBeforeUpdatesDo) {
  EXPECT_EQ(trained(1, 1000).steps.size(), 2U);
}

TEST(Training, AnnouncesHowManyStepsAnEpochWillHave) {
  EXPECT_EQ(trained(2, {}).announced_steps, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(trained(100, 5).announced_steps, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(trained(100, 1).announced_steps, (std::vector<std::int64_t>{1}));
}

}  // namespace
}  // namespace trainer
