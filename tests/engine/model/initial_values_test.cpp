#include "engine/model/initial_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace penstock {
namespace {

using InitializerKind = graph::Initializer::Kind;
constexpr graph::Initializer half{.kind = InitializerKind::uniform, .value = 0.5};
constexpr graph::Initializer unit_normal{.kind = InitializerKind::normal, .value = 1};

std::vector<float> draw(const graph::Initializer& initializer, const Shape& shape,
                        std::uint64_t seed = 1, std::string_view name = "fc.weight") {
  const Tensor tensor = initial_values(initializer, shape, seed, name);
  EXPECT_EQ(tensor.shape(), shape);
  const auto values = tensor.as<float>();
  return {values.begin(), values.end()};
}

/// Returns the mean of the elements, each raised to `power`.
double moment(const std::vector<float>& values, int power) {
  double sum = 0;
  for (const float value : values) sum += std::pow(double{value}, power);
  return sum / static_cast<double>(values.size());
}

TEST(InitialValues, AConstantFillsTheTensor) {
  EXPECT_EQ(draw({.value = 1}, {2, 3}), std::vector<float>(6, 1));
}

TEST(InitialValues, UniformOnesFillTheRangeEvenly) {
  const auto values = draw(half, {100, 1000});
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*least, -0.5f);
  EXPECT_LT(*least, -0.499f);
  EXPECT_LT(*most, 0.5f);
  EXPECT_GT(*most, 0.499f);
  EXPECT_NEAR(moment(values, 1), 0, 0.003);
  EXPECT_NEAR(moment(values, 2), 0.25 / 3, 0.001);
}

TEST(InitialValues, NormalOnesHaveTheMomentsOfTheNormalDistribution) {
  const auto values = draw(unit_normal, {100, 1000});
  EXPECT_NEAR(moment(values, 1), 0, 0.02);
  EXPECT_NEAR(moment(values, 2), 1, 0.02);
  EXPECT_NEAR(moment(values, 4), 3, 0.15);
}

TEST(InitialValues, DependOnSeedAndNameAndNothingElse) {
  for (const graph::Initializer& initializer : {half, unit_normal}) {
    const auto values = draw(initializer, {7, 9});
    EXPECT_EQ(draw(initializer, {7, 9}), values);
    EXPECT_NE(draw(initializer, {7, 9}, 2), values);
    EXPECT_NE(draw(initializer, {7, 9}, 1, "fc2.weight"), values);
    const auto longer = draw(initializer, {64});
    EXPECT_TRUE(std::equal(values.begin(), values.end(), longer.begin()));
  }
}

}  // namespace
}  // namespace penstock
