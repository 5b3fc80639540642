#include "engine/model/initial_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

const Initializer half = Initializer::uniform(-0.5, 0.5);
const Initializer unit_normal = Initializer::normal();

std::vector<float> draw(const Initializer& initializer, const Shape& shape, std::uint64_t seed = 1,
                        std::string_view name = "fc.weight") {
  check_initializer(initializer, shape, name);
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
  EXPECT_EQ(draw(Initializer::constant(1), {2, 3}), std::vector<float>(6, 1));
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

TEST(InitialValues, HaveTheMeansThatAreAskedFor) {
  const auto even = draw(Initializer::uniform(2, 6), {100, 1000});
  const auto [least, most] = std::minmax_element(even.begin(), even.end());
  EXPECT_GE(*least, 2);
  EXPECT_LE(*most, 6);
  EXPECT_NEAR(moment(even, 1), 4, 0.02);
  EXPECT_NEAR(moment(draw(Initializer::normal(3, 0.5), {100, 1000}), 1), 3, 0.01);
}

// The moments are those of the standard normal distribution between -1 and 2.
TEST(InitialValues, TruncatedOnesStayBetweenTheirBounds) {
  const auto values = draw(Initializer::truncated_normal(1, 2, -1, 5), {100, 1000});
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*least, -1);
  EXPECT_LT(*least, -0.99f);
  EXPECT_LE(*most, 5);
  EXPECT_GT(*most, 4.95f);
  EXPECT_NEAR(moment(values, 1), 1 + 2 * 0.22963, 0.02);
}

// No float is between these bounds.
TEST(InitialValues, TruncatedOnesEndEvenBetweenNeighbouringFloats) {
  const auto values = draw(Initializer::truncated_normal(1, 1e-9, 1 + 1e-10, 1 + 1e-9), {100});
  EXPECT_EQ(values, std::vector<float>(100, 1));
}

/// Returns the root of the mean square.
double deviation(const std::vector<float>& values) {
  return std::sqrt(moment(values, 2));
}

// A weight [40,30,5,5] has the fan in 750 and the fan out 1000.
TEST(InitialValues, SpreadByTheFansOfTheWeight) {
  const Shape shape{40, 30, 5, 5};
  const auto expect = [&](const Initializer& initializer, double std) {
    EXPECT_NEAR(deviation(draw(initializer, shape)) / std, 1, 0.02) << to_string(initializer.kind);
  };
  expect(Initializer::xavier_uniform(), std::sqrt(2 / 1750.0));
  expect(Initializer::xavier_normal(3), 3 * std::sqrt(2 / 1750.0));
  expect(Initializer::kaiming_uniform(), std::sqrt(2 / 750.0));
  expect(Initializer::kaiming_uniform(std::sqrt(5)), std::sqrt(1 / (3 * 750.0)));
  expect(Initializer::kaiming_normal(0, Fan::out), std::sqrt(2 / 1000.0));
  const auto even = draw(Initializer::xavier_uniform(), shape);
  EXPECT_LE(*std::max_element(even.begin(), even.end()), std::sqrt(6 / 1750.0) * (1 + 1e-6));
}

TEST(InitialValues, OrthogonalOnesHaveOrthonormalRowsOrColumns) {
  for (const Shape& shape : {Shape{5, 2, 4}, Shape{8, 5}, Shape{6, 6}, Shape{1, 7}}) {
    const auto values = draw(Initializer::orthogonal(2), shape);
    const auto rows = static_cast<std::size_t>(shape[0]), columns = values.size() / rows;
    const bool of_rows = rows <= columns;
    const auto element = [&](std::size_t vector, std::size_t i) {
      return double{of_rows ? values[vector * columns + i] : values[i * columns + vector]};
    };
    for (std::size_t a = 0; a < std::min(rows, columns); ++a)
      for (std::size_t b = 0; b <= a; ++b) {
        double dot = 0;
        for (std::size_t i = 0; i < std::max(rows, columns); ++i)
          dot += element(a, i) * element(b, i);
        EXPECT_NEAR(dot, a == b ? 4 : 0, 1e-6) << to_string(shape);
      }
  }
}

TEST(InitialValues, MayHaveARowOfZeros) {
  Initializer padded = unit_normal;
  padded.zero_row = 2;
  std::vector<float> expected = draw(unit_normal, {3, 2, 2});
  std::fill(expected.end() - 4, expected.end(), 0.0f);
  EXPECT_EQ(draw(padded, {3, 2, 2}), expected);
}

TEST(InitialValues, RefuseWhatCannotBeDrawn) {
  const auto refused = [](const Initializer& initializer, const Shape& shape = {4, 4}) {
    return testing::refusal(Errc::invalid_argument,
                            [&] { check_initializer(initializer, shape, "w"); });
  };
  EXPECT_EQ(refused(Initializer::normal(0, -1)),
            "parameter \"w\": normal: expected 0 or more, got -1");
  EXPECT_EQ(refused(Initializer::uniform(2, 1)),
            "parameter \"w\": uniform: expected low not to be above high, got low 2 and high 1");
  EXPECT_EQ(refused(Initializer::constant(std::nan(""))),
            "parameter \"w\": constant: expected a finite number, got nan");
  EXPECT_EQ(refused(Initializer::orthogonal(), {4}),
            "parameter \"w\": orthogonal: expected a parameter of rank 2 or more, got [4]");
  EXPECT_EQ(refused(Initializer::truncated_normal(0, 1, 4, 5)),
            "parameter \"w\": truncated_normal: expected a thousandth of the distribution, or "
            "more, to be from 4 to 5");
  EXPECT_NE(refused(Initializer::truncated_normal(0, 1, 2, 1)), "accepted");
  EXPECT_NE(refused(Initializer::truncated_normal(0, 0, -2, 2)), "accepted");
  Initializer padded = unit_normal;
  padded.zero_row = 4;
  EXPECT_EQ(refused(padded),
            "parameter \"w\": normal: expected a zero_row from 0 to 3, or -1 for none, got 4");
}

TEST(InitialValues, RefuseBoundsByTheirNames) {
  const auto refused_with = [](const Initializer& initializer) {
    return testing::refusal(Errc::invalid_argument, [&] {
      check_initializer(initializer, {4, 4}, "w");
    });
  };
  const auto refused = [&](double low, double high) {
    return refused_with(Initializer::uniform(low, high));
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string low = "parameter \"w\": uniform: low", high = "parameter \"w\": uniform: high",
                    finite = ": expected a finite number, got ",
                    f32 = ": expected -3.4028234663852886e+38 to 3.4028234663852886e+38, got ";
  EXPECT_EQ(refused(0, infinity), high + finite + "inf");
  EXPECT_EQ(refused(-infinity, infinity), low + finite + "-inf");
  EXPECT_EQ(refused(std::nan(""), 1), low + finite + "nan");
  EXPECT_EQ(refused(0, 5e38), high + f32 + "5e+38");
  EXPECT_EQ(refused(-5e38, 0), low + f32 + "-5e+38");
  EXPECT_EQ(refused(1.4e37, 6.7e38), high + f32 + "6.7e+38");
  EXPECT_EQ(refused(1e308, 1.5e308), low + f32 + "1e+308");
  EXPECT_EQ(refused(-1.7e308, 1.7e308), low + f32 + "-1.7e+308");
  EXPECT_EQ(
      refused(0.3, 0.1),
      "parameter \"w\": uniform: expected low not to be above high, got low 0.3 and high 0.1");
  EXPECT_EQ(refused_with(Initializer::truncated_normal(0, 1, -2, infinity)),
            "parameter \"w\": truncated_normal: high" + finite + "inf");
}

TEST(InitialValues, UniformOnesHaveTheWholeRangeOfF32) {
  constexpr double most = std::numeric_limits<float>::max();
  for (const float value : draw(Initializer::uniform(-most, most), {8}))
    EXPECT_TRUE(std::isfinite(value));
}

TEST(InitialValues, DependOnSeedAndNameAndNothingElse) {
  for (const Initializer& initializer :
       {half, unit_normal, Initializer::truncated_normal(), Initializer::kaiming_uniform()}) {
    const auto values = draw(initializer, {7, 9});
    EXPECT_EQ(draw(initializer, {7, 9}), values);
    EXPECT_NE(draw(initializer, {7, 9}, 2), values);
    EXPECT_NE(draw(initializer, {7, 9}, 1, "fc2.weight"), values);
    const auto longer = draw(initializer, {64, 9});
    EXPECT_TRUE(std::equal(values.begin(), values.end(), longer.begin()));
  }
}

}  // namespace
}  // namespace penstock
