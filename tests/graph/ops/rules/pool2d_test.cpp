// These tests check poolings with ties, NaN, infinities and padding, which the generic tests of ops
// do not reach.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/ops/convolution/avg_pool2d.hpp"
#include "graph/ops/convolution/max_pool2d.hpp"
#include "tests/support/tape.hpp"

namespace penstock::graph {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

struct Pooled {
  std::vector<float> y, dx;
};

std::vector<float> elements(const Tensor& tensor) {
  return {tensor.as<float>().begin(), tensor.as<float>().end()};
}

/// Pools one plane and sends a gradient of 1 back from every output.
Pooled pool(const Op& op, const Tensor& x, Attributes attributes) {
  testing::Tape tape;
  const ValueId input = tape.leaf(x);
  const ValueId y = tape.apply(op, {input}, std::move(attributes))[0];
  const std::vector<float> ones(static_cast<std::size_t>(tape[y].elements()), 1.0f);
  tape.backward(y, {tape[y].shape(), std::span<const float>(ones)});
  return {elements(tape[y]), elements(tape.gradient(input))};
}

using Floats = std::vector<float>;

TEST(MaxPool2d, SendsTheGradientToTheFirstOfEqualPixels) {
  const auto [y, dx] = pool(max_pool2d, {{1, 1, 2, 4}, {1, 7, 5, 5, 7, 7, 5, 5}}, {{"kernel", 2}});
  EXPECT_EQ(y, (Floats{7, 5}));
  EXPECT_EQ(dx, (Floats{0, 1, 1, 0, 0, 0, 0, 0}));
}

TEST(MaxPool2d, TakesANaNForTheLargest) {
  const auto [y, dx] =
      pool(max_pool2d, {{1, 1, 2, 4}, {1, nan, 5, 6, 9, 2, 7, infinity}}, {{"kernel", 2}});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], infinity);
  EXPECT_EQ(dx, (Floats{0, 1, 0, 0, 0, 0, 0, 1}));
}

TEST(MaxPool2d, SendsTheGradientOfMinusInfinityToARealPixel) {
  const auto [y, dx] = pool(max_pool2d, {{1, 1, 1, 3}, {-infinity, -infinity, -infinity}},
                            {{"kernel", 3}, {"padding", 1}, {"stride", 2}});
  EXPECT_EQ(y, (Floats{-infinity, -infinity}));
  EXPECT_EQ(dx, (Floats{1, 1, 0}));
}

TEST(MaxPool2d, NeverTakesPadding) {
  const auto [y, dx] = pool(max_pool2d, {{1, 1, 2, 2}, {-4, -3, -2, -1}},
                            {{"kernel", 2}, {"stride", 1}, {"padding", 1}});
  EXPECT_EQ(y, (Floats{-4, -3, -3, -2, -1, -1, -2, -1, -1}));
  EXPECT_EQ(dx, (Floats{1, 2, 2, 4}));
}

TEST(AvgPool2d, CountsPaddingAsZeros) {
  const auto [y, dx] = pool(avg_pool2d, {{1, 1, 2, 2}, {4, 8, 12, 16}},
                            {{"kernel", 2}, {"stride", 2}, {"padding", 1}});
  EXPECT_EQ(y, (Floats{1, 2, 3, 4}));
  EXPECT_EQ(dx, (Floats{0.25f, 0.25f, 0.25f, 0.25f}));
}

}  // namespace
}  // namespace penstock::graph
