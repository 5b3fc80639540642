#include "graph/values/number_range.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

TEST(NumberRange, IsSaidInWords) {
  EXPECT_EQ(to_string({.low = 1}), "1 or more");
  EXPECT_EQ(to_string({.low = 0, .high = 1024}), "0 to 1024");
  EXPECT_EQ(to_string({.low = 0, .above_low = true}), "more than 0");
  EXPECT_EQ(to_string({.low = 0, .high = 1, .below_high = true}), "0 or more and below 1");
  EXPECT_EQ(to_string({.low = 0, .high = 1, .above_low = true}), "more than 0 and at most 1");
}

TEST(NumberRange, HoldsItsEndsUnlessTheyAreExcluded) {
  const NumberRange closed{.low = 0, .high = 1};
  EXPECT_TRUE(closed.contains(0) && closed.contains(1));
  EXPECT_FALSE(closed.contains(-0.1) || closed.contains(1.1));
  const NumberRange open{.low = 0, .high = 1, .above_low = true, .below_high = true};
  EXPECT_TRUE(open.contains(0.5));
  EXPECT_FALSE(open.contains(0) || open.contains(1));
}

TEST(NumberRange, HoldsFiniteNumbersOnly) {
  const NumberRange range{.low = -1};
  EXPECT_FALSE(range.contains(std::nan("")));
  EXPECT_FALSE(range.contains(std::numeric_limits<double>::infinity()));
}

TEST(NumberRange, AnF32KeepsItWhenRounded) {
  const auto verdict = [](double number, const NumberRange& range) {
    return testing::refusal(Errc::invalid_argument, [&] { check_f32("x", number, range); });
  };
  const NumberRange positive{.above_low = true}, fraction{.high = 1, .below_high = true};
  EXPECT_EQ(verdict(1e-37, positive), "accepted");
  EXPECT_EQ(verdict(1e-38, positive), "x: expected more than 0, got 1e-38, which is 0 in f32");
  EXPECT_EQ(verdict(1e-60, {}), "accepted");
  EXPECT_EQ(verdict(0.9999999, fraction), "accepted");
  EXPECT_EQ(verdict(0.99999999, fraction),
            "x: expected 0 or more and below 1, got 0.99999999, which is 1 in f32");
  EXPECT_EQ(verdict(1e39, positive),
            "x: expected more than 0 and at most 3.4028234663852886e+38, got 1e+39");
  EXPECT_EQ(verdict(-1e39, any_number),
            "x: expected -3.4028234663852886e+38 to 3.4028234663852886e+38, got -1e+39");
}

TEST(NumberText, IsShortAndReadsBackTheSame) {
  EXPECT_EQ(number_text(1000000), "1000000");
  EXPECT_EQ(number_text(-3), "-3");
  EXPECT_EQ(number_text(0.001), "0.001");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(number_text(std::nan("")), "nan");
}

}  // namespace
}  // namespace penstock
