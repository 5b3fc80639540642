#include "apps/trainer/evaluation.hpp"

#include <gtest/gtest.h>

namespace trainer {
namespace {

using penstock::Tensor;

TEST(Evaluation, WeighsEverySampleTheSameInAShorterLastBatchToo) {
  const std::vector<std::int64_t> labels{0, 0, 1, 0, 0, 1, 1};  // class 0 is right 4 times in 7
  const std::vector<float> images(7);
  penstock::DataLoader loader(
      penstock::tensor_dataset({Tensor({7, 1}, std::span<const float>(images)),
                                Tensor(penstock::Shape{7}, std::span<const std::int64_t>(labels))}),
      3, {.drop_last = false, .mode = penstock::LoaderMode::sync, .workers = 0});
  std::vector<std::int64_t> calls;
  const Inference class_zero = [&](const Tensor& batch) {
    calls.push_back(batch.shape()[0]);
    std::vector<float> scores;
    for (std::int64_t i = 0; i < batch.shape()[0]; ++i) scores.insert(scores.end(), {1, 0});
    penstock::StepResult result;
    result.outputs = {{"scores", Tensor({batch.shape()[0], 2}, std::span<const float>(scores))}};
    return result;
  };
  int batches = 0;
  const Evaluation evaluation = evaluate(loader, "scores", class_zero, [&] { ++batches; });
  EXPECT_EQ(calls, (std::vector<std::int64_t>{3, 3, 1}));
  EXPECT_EQ(batches, 3);
  EXPECT_DOUBLE_EQ(evaluation.accuracy, 4.0 / 7);
  EXPECT_GT(evaluation.samples_per_second, 0);
}

}  // namespace
}  // namespace trainer
