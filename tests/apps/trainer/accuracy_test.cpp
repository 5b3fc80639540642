#include "apps/trainer/accuracy.hpp"

#include <gtest/gtest.h>

namespace trainer {
namespace {

penstock::Tensor labels(std::vector<std::int64_t> values) {
  return {penstock::Shape{static_cast<std::int64_t>(values.size())},
          std::span<const std::int64_t>(values)};
}

TEST(Accuracy, CountsRowsThatAreHighestAtTheirLabel) {
  const penstock::Tensor scores({3, 3}, {9, 1, 2, -3, -1, -2, 0, 1, 2});
  EXPECT_EQ(count_correct(scores, labels({0, 1, 2})), 3);
  EXPECT_EQ(count_correct(scores, labels({1, 1, 0})), 1);
}

TEST(Accuracy, OfEqualScoresTheFirstCounts) {
  const penstock::Tensor scores({1, 3}, {1, 5, 5});
  EXPECT_EQ(count_correct(scores, labels({1})), 1);
  EXPECT_EQ(count_correct(scores, labels({2})), 0);
}

}  // namespace
}  // namespace trainer
