#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "penstock/classification_metrics.hpp"
#include "penstock/error.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

Tensor classes(const std::vector<std::int64_t>& numbers) {
  return {Shape{static_cast<std::int64_t>(numbers.size())}, std::span<const std::int64_t>(numbers)};
}

/// Returns scores [N,count] whose highest one is at the class in `predicted`.
Tensor scores_of(const std::vector<std::int64_t>& predicted, std::int64_t count) {
  std::vector<float> scores(predicted.size() * static_cast<std::size_t>(count), -1);
  for (std::size_t i = 0; i < predicted.size(); ++i)
    scores[i * static_cast<std::size_t>(count) + static_cast<std::size_t>(predicted[i])] = 0.5f;
  return {Shape{static_cast<std::int64_t>(predicted.size()), count},
          std::span<const float>(scores)};
}

/// Returns the matrix of ten samples of four classes, of which class 3 never occurs. The counts of
/// classes 0, 1 and 2 are: labels 4, 2, 4; predictions 3, 3, 4; both 2, 1, 3.
ConfusionMatrix example() {
  ConfusionMatrix matrix;
  matrix.add(scores_of({0, 1, 0, 1, 2, 2, 2, 0, 2, 1}, 4), classes({0, 0, 0, 1, 1, 2, 2, 2, 2, 0}));
  return matrix;
}

TEST(ConfusionMatrix, CountsLabelsByPredictions) {
  const ConfusionMatrix matrix = example();
  EXPECT_EQ(matrix.classes(), 4);
  const Tensor counts = matrix.counts();
  EXPECT_EQ(counts.shape(), (Shape{4, 4}));
  const auto all = counts.as<std::int64_t>();
  EXPECT_EQ(std::vector(all.begin(), all.end()),
            (std::vector<std::int64_t>{2, 2, 0, 0, 0, 1, 1, 0, 1, 0, 3, 0, 0, 0, 0, 0}));
  EXPECT_EQ(matrix.count(0, 1), 2);
  EXPECT_EQ(matrix.count(2, 0), 1);
}

TEST(ConfusionMatrix, AveragesOverClassesThatOccur) {
  const ConfusionMatrix matrix = example();
  EXPECT_DOUBLE_EQ(matrix.precision(), (2.0 / 3 + 1.0 / 3 + 3.0 / 4) / 3);
  EXPECT_DOUBLE_EQ(matrix.recall(), (2.0 / 4 + 1.0 / 2 + 3.0 / 4) / 3);
  EXPECT_DOUBLE_EQ(matrix.f1_score(), (4.0 / 7 + 2.0 / 5 + 6.0 / 8) / 3);
}

TEST(ConfusionMatrix, HasTheAccuracyAsEachMicroAverage) {
  const ConfusionMatrix matrix = example();
  const ClassificationOptions micro{.average = Average::micro};
  EXPECT_DOUBLE_EQ(matrix.accuracy(), 0.6);
  for (const double number :
       {matrix.precision(micro), matrix.recall(micro), matrix.f1_score(micro)})
    EXPECT_DOUBLE_EQ(number, 0.6);
}

TEST(ConfusionMatrix, IsAboutOneClassIfAsked) {
  const ConfusionMatrix matrix = example();
  const auto of = [](std::int64_t positive_class) {
    return ClassificationOptions{.average = Average::binary, .positive_class = positive_class};
  };
  EXPECT_DOUBLE_EQ(matrix.precision(of(0)), 2.0 / 3);
  EXPECT_DOUBLE_EQ(matrix.recall(of(0)), 2.0 / 4);
  EXPECT_DOUBLE_EQ(matrix.f1_score(of(0)), 4.0 / 7);
  EXPECT_DOUBLE_EQ(matrix.f1_score(of(2)), 6.0 / 8);
  EXPECT_EQ(matrix.precision(of(3)), 0);
  EXPECT_EQ(matrix.recall(of(3)), 0);
  EXPECT_EQ(matrix.f1_score(of(3)), 0);
}

TEST(ConfusionMatrix, ComparesASingleScoreWithAThreshold) {
  const std::vector<float> scores{0.2f, 0.5f, 0.7f, -3};
  const Tensor labels = classes({0, 0, 1, 1});
  for (const Shape& shape : {Shape{4}, Shape{4, 1}}) {
    ConfusionMatrix probabilities, logits;
    probabilities.add(Tensor(shape, std::span<const float>(scores)), labels);
    logits.add(Tensor(shape, std::span<const float>(scores)), labels, 0);
    EXPECT_EQ(probabilities.classes(), 2);
    EXPECT_EQ(probabilities.count(0, 0), 1);
    EXPECT_EQ(probabilities.count(0, 1), 1) << "A score at the threshold is of class 1.";
    EXPECT_EQ(probabilities.count(1, 1), 1);
    EXPECT_EQ(logits.count(0, 0), 0);
    EXPECT_EQ(logits.count(0, 1), 2);
  }
}

TEST(ConfusionMatrix, IsTheSumOfItsParts) {
  ConfusionMatrix first, second, sum;
  first.add(scores_of({0, 1, 0, 1, 2}, 4), classes({0, 0, 0, 1, 1}));
  second.add(scores_of({2, 2, 0, 2, 1}, 4), classes({2, 2, 2, 2, 0}));
  sum += ConfusionMatrix();
  EXPECT_EQ(sum.classes(), 0);
  sum += first;
  sum += second;
  for (int label = 0; label < 4; ++label)
    for (int predicted = 0; predicted < 4; ++predicted)
      EXPECT_EQ(sum.count(label, predicted), example().count(label, predicted));
}

TEST(ConfusionMatrix, OfNothingHasNoNumbers) {
  ConfusionMatrix matrix;
  EXPECT_TRUE(std::isnan(matrix.f1_score()));
  EXPECT_TRUE(std::isnan(matrix.accuracy()));
  matrix.add(Tensor::zeros(DType::f32, {0, 3}), Tensor::zeros(DType::i64, {0}));
  EXPECT_EQ(matrix.classes(), 3);
  EXPECT_TRUE(std::isnan(matrix.precision({.average = Average::binary})));
  EXPECT_EQ(matrix.counts().shape(), (Shape{3, 3}));
}

TEST(ConfusionMatrix, RefusesWhatItCannotCountAndCountsNothing) {
  ConfusionMatrix matrix = example();
  const auto refused = [&](Errc code, const Tensor& scores, const Tensor& labels) {
    return refusal(code, [&] { matrix.add(scores, labels); });
  };
  EXPECT_EQ(refused(Errc::invalid_data, scores_of({0, 1}, 4), classes({0, 4})),
            "confusion matrix: expected labels from 0 to 3, got 4 as label 1");
  EXPECT_EQ(refused(Errc::invalid_data, scores_of({0}, 4), classes({-100})),
            "confusion matrix: expected labels from 0 to 3, got -100 as label 0");
  EXPECT_EQ(refused(Errc::shape_mismatch, scores_of({0}, 3), classes({0})),
            "confusion matrix: expected 4 classes as before, got 3");
  EXPECT_EQ(refused(Errc::shape_mismatch, scores_of({0, 0}, 4), classes({0})),
            "confusion matrix: expected scores f32 [N,classes] or [N] and labels i64 [M], or i32 "
            "or u8, with N <= "
            "M, got f32[2,4] and i64[1]");
  EXPECT_EQ(refused(Errc::shape_mismatch, {}, classes({0})),
            "confusion matrix: expected scores f32 [N,classes] or [N] and labels i64 [M], or i32 "
            "or u8, with N <= "
            "M, got an empty tensor and i64[1]");
  EXPECT_EQ(matrix.accuracy(), example().accuracy());
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { matrix.count(0, 4); }),
            "confusion matrix: predicted: expected the number of one of 4 classes, got 4");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] { matrix.recall({.average = Average::binary, .positive_class = 4}); }),
            "confusion matrix: positive_class: expected the number of one of 4 classes, got 4");
}

}  // namespace
}  // namespace penstock
