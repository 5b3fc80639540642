#include "penstock/metric.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "penstock/error.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

Tensor labels(const std::vector<std::int64_t>& values) {
  return {Shape{static_cast<std::int64_t>(values.size())}, std::span<const std::int64_t>(values)};
}

TEST(Accuracy, CountsRowsThatAreHighestAtTheirLabel) {
  const Tensor scores({3, 3}, {9, 1, 2, -3, -1, -2, 0, 1, 2});
  EXPECT_EQ(count_correct(scores, labels({0, 1, 2})), 3);
  EXPECT_EQ(count_correct(scores, labels({1, 1, 0})), 1);
}

TEST(Accuracy, OfEqualScoresTheFirstCounts) {
  const Tensor scores({1, 3}, {1, 5, 5});
  EXPECT_EQ(count_correct(scores, labels({1})), 1);
  EXPECT_EQ(count_correct(scores, labels({2})), 0);
}

TEST(Accuracy, F16_OfFewerScoresThanLabelsIsThatOfTheLastLabels) {
  const Tensor scores({2, 2}, {1, 0, 0, 1});
  EXPECT_EQ(count_correct(scores, labels({1, 0, 1, 0, 1})), 2);
  EXPECT_EQ(count_correct(scores, labels({0, 1, 0, 1, 0})), 0);
}

TEST(Accuracy, TakesTheBatchsLastFieldForLabels) {
  const Metric metric = accuracy("scores");
  EXPECT_EQ(metric.name, "accuracy");
  StepResult result;
  result.outputs = {{"other", labels({7})}, {"scores", Tensor({2, 2}, {1, 0, 1, 0})}};
  const Score score = metric.score(result, {Tensor({2, 1}, {1, 1}), labels({0, 1})});
  EXPECT_EQ(score.sum, 1);
  EXPECT_EQ(score.count, 2);
}

// Each of two replicas has five micro-batches of one sample. The second and the fourth micro-batch
// of each are returned.
TEST(Accuracy, F16_IsThatOfTheSamplesThatTheOutputModeReturns) {
  StepResult result{.rows = {.mode = OutputMode::every_n, .period = 2, .round = 2}};
  result.outputs = {{"scores", Tensor({4, 2}, {1, 0, 0, 1, 1, 0, 0, 1})}};
  const Metric metric = accuracy("scores");
  EXPECT_EQ(metric.score(result, {labels({9, 9, 0, 1, 9, 9, 0, 1, 9, 9})}).mean(), 1);
  EXPECT_EQ(metric.score(result, {labels({0, 1, 9, 9, 0, 1, 0, 1, 0, 1})}).mean(), 0.5);
  result.rows.mode = OutputMode::sum;
  EXPECT_EQ(testing::refusal(Errc::invalid_argument,
                             [&] {
                               metric.score(result, {labels({0, 1, 0, 1})});
                             }),
            "accuracy: expected the scores of single samples, as output mode all, final or every_n "
            "returns them, got sum");
}

// A period may be so long that its product with other numbers overflows.
TEST(Accuracy, CountsPeriodsThatAreLongerThanAnyNumber) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr int longest = std::numeric_limits<int>::max();
  StepResult result{.outputs = {{"scores", Tensor({2, 2}, {1, 0, 0, 1})}}};
  result.rows = {.mode = OutputMode::every_n};
  for (const std::int64_t round : {std::int64_t{1}, std::int64_t{1} << 61, most})
    for (const int period : {8, longest}) {
      result.rows.round = round;
      result.rows.period = period;
      EXPECT_EQ(accuracy("scores").score(result, {labels({9, 9, 9, 0, 1})}).mean(), 1);
    }
}

TEST(Accuracy, RefusesWhatAreNoScoresOrLabels) {
  const Tensor scores({2, 2}, {1, 0, 1, 0});
  const std::pair<Tensor, Tensor> cases[] = {{scores, labels({1})},
                                             {labels({1, 0}), labels({1, 0})},
                                             {Tensor(Shape{2}, {1, 0}), labels({1, 0})},
                                             {scores, Tensor(Shape{2}, {1, 0})}};
  for (const auto& [wrong_scores, wrong_labels] : cases)
    EXPECT_THROW(count_correct(wrong_scores, wrong_labels), Error);
}

// Tensors of any kind that a host passes as scores and labels are either counted or refused.
TEST(Accuracy, TakesTensorsOfEveryKind) {
  std::vector<Tensor> tensors{Tensor()};
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{2}, Shape{0, 0}, Shape{0, 2},
                             Shape{2, 0}, Shape{2, 2}, Shape{0, 2, 2}, Shape{1, 2, 2}})
    for (const DType dtype : {DType::f32, DType::i64})
      tensors.push_back(Tensor::zeros(dtype, shape));
  int counted = 0;
  for (const Tensor& scores : tensors)
    for (const Tensor& labels : tensors)
      for (const OutputMode mode : {OutputMode::all, OutputMode::every_n})
        for (const int period : {0, 1, 2}) try {
            StepResult result{.rows = {.mode = mode, .period = period, .round = period}};
            result.outputs = {{"scores", scores}};
            const Score score = accuracy("scores").score(result, {labels});
            EXPECT_LE(score.sum, static_cast<double>(score.count));
            ++counted;
          } catch (const Error& error) {
            EXPECT_TRUE(error.code() == Errc::shape_mismatch ||
                        error.code() == Errc::invalid_argument)
                << error.what();
          }
  EXPECT_GT(counted, 5);
  EXPECT_EQ(testing::refusal(Errc::shape_mismatch, [] { count_correct({}, {}); }),
            "accuracy: expected scores f32 [N,classes] and labels i64 [M], or i32 or u8, with N "
            "<= M, got an "
            "empty tensor and an empty tensor");
  EXPECT_EQ(count_correct(Tensor::zeros(DType::f32, {0, 2}), Tensor::zeros(DType::i64, {0})), 0);
}

TEST(Accuracy, RefusesABatchWithoutLabels) {
  StepResult result;
  result.outputs = {{"scores", Tensor({1, 2}, {1, 0})}};
  EXPECT_NE(testing::refusal(Errc::shape_mismatch, [&] { accuracy("scores").score(result, {}); }),
            "accepted");
}

TEST(MeanOf, TakesTensorsOfEveryKind) {
  const auto score = [](const Tensor& values) {
    StepResult result;
    result.outputs = {{"y", values}};
    return mean_of("y").score(result, {});
  };
  EXPECT_EQ(score(Tensor::zeros(DType::f32, {0, 3})).count, 0);
  EXPECT_EQ(score(Tensor({}, {2})).mean(), 2);
  EXPECT_NE(testing::refusal(Errc::invalid_argument, [&] { score({}); }), "accepted");
  EXPECT_NE(testing::refusal(Errc::shape_mismatch, [&] { score(Tensor::zeros(DType::i64, {2})); }),
            "accepted");
}

TEST(MeanOf, WeighsEveryElementOfTheOutputTheSame) {
  const Metric metric = mean_of("y");
  EXPECT_EQ(metric.name, "y");
  StepResult result;
  result.outputs = {{"y", Tensor({2, 2}, {1, 2, 3, 6})}};
  EXPECT_EQ(metric.score(result, {}).mean(), 3);
}

}  // namespace
}  // namespace penstock
