#include "graph/ops/activations/softmax.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::run;

constexpr float infinity = std::numeric_limits<float>::infinity();

Tensor result(const Op& op, const Tensor& x, std::int64_t axis = -1) {
  return run({.op = &op, .attributes = {{"axis", axis}}, .inputs = {x}})[0];
}

/// Returns the rows of `a`, then those of `b`. All rows have the same length.
Tensor one_after_the_other(const Tensor& a, const Tensor& b) {
  std::vector<float> values(a.as<float>().begin(), a.as<float>().end());
  values.insert(values.end(), b.as<float>().begin(), b.as<float>().end());
  return {{a.shape()[0] + b.shape()[0], a.shape()[1]}, std::span<const float>(values)};
}

TEST(Softmax, GivesExactlyNothingToWhatIsMaskedOut) {
  const Tensor rows = result(softmax, {{1, 20}, std::vector<float>(20, -infinity)});
  EXPECT_TRUE(std::isnan(rows.as<float>()[0])) << "nothing to choose from";

  std::vector<float> x(20, -infinity);
  x[3] = 2;
  for (const std::int64_t axis : {0, 1}) {
    const Shape shape = axis == 1 ? Shape{1, 20} : Shape{20, 1};
    const Tensor y = result(softmax, {shape, std::span<const float>(x)}, axis);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y.as<float>()[i], i == 3 ? 1.0f : 0.0f);
  }
}

TEST(Softmax, SurvivesLargeLogits) {
  const Tensor x({1, 3}, {1000.0f, 1000.0f, -1000.0f});
  const auto y = result(softmax, x);
  EXPECT_FLOAT_EQ(y.as<float>()[0], 0.5f);
  EXPECT_EQ(y.as<float>()[2], 0.0f);
  const auto log_y = result(log_softmax, x);
  EXPECT_FLOAT_EQ(log_y.as<float>()[0], -std::log(2.0f));
  EXPECT_FLOAT_EQ(log_y.as<float>()[2], -2000.0f - std::log(2.0f));
}

TEST(Softmax, CountsANegativeAxisFromTheEnd) {
  const Tensor x = testing::uniform({3, 4, 5}, 1);
  for (const Op* op : {&softmax, &log_softmax})
    for (std::int64_t axis = 0; axis < 3; ++axis)
      EXPECT_TRUE(testing::same_bits(result(*op, x, axis), result(*op, x, axis - 3)));
}

// Several short lines are worked on side by side. A line that gives nearly all probability to one
// element is worked on in another way than the other lines.
TEST(Softmax, OfALineHasTheSameBitsWhateverLinesAreBesideIt) {
  for (const std::int64_t length : {1, 2, 3, 10, 16, 17, 31, 32, 33, 40})
    for (const std::int64_t count : {2, 3, 63, 64, 65, 130}) {
      const Tensor sure = testing::uniform({count, length}, 1, -20, 20);
      const Tensor unsure = testing::uniform({count, length}, 2);
      for (const Tensor& x : {sure, unsure, one_after_the_other(sure, unsure)})
        for (const Op* op : {&softmax, &log_softmax}) {
          const Tensor all = result(*op, x);
          for (std::int64_t line = 0; line < x.shape()[0]; ++line)
            ASSERT_TRUE(
                testing::same_bits(all.rows(line, line + 1), result(*op, x.rows(line, line + 1))))
                << op->name << ", line " << line << " of " << count << " of length " << length;
        }
    }
}

TEST(Softmax, SumsToOneAlongEveryAxis) {
  // There are more lines than are worked on at a time.
  const Tensor x = testing::uniform({7, 130, 3}, 2, -5, 5);
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    const Tensor y = result(softmax, x, axis), log_y = result(log_softmax, x, axis);
    double sum = 0;
    for (std::size_t i = 0; i < y.as<float>().size(); ++i) {
      sum += y.as<float>()[i];
      EXPECT_NEAR(std::exp(log_y.as<float>()[i]), y.as<float>()[i], 1e-6);
    }
    EXPECT_NEAR(sum, 7 * 130 * 3 / x.shape()[axis], 1e-4);
  }
}

}  // namespace
}  // namespace penstock::graph
