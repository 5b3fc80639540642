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

TEST(MaxPool2d, StepsOverPixelsWithADilation) {
  const Attributes attributes{
      {"kernel", 2}, {"stride", 1}, {"padding", 1}, {"dilation", std::vector<std::int64_t>{2, 3}}};
  const auto [y, dx] =
      pool(max_pool2d, {{1, 1, 2, 4}, {-1, -8, -3, -5, -7, -2, -6, -4}}, attributes);
  // The windows begin at row -1, and at the columns -1, 0 and 1.
  EXPECT_EQ(y, (Floats{-6, -4, -2, -3, -1, -8}));
  EXPECT_EQ(dx, (Floats{1, 1, 1, 0, 0, 1, 1, 1}));
}

TEST(MaxPool2d, SendsTheGradientOfMinusInfinityToAPixelBehindAWidePadding) {
  const auto [y, dx] =
      pool(max_pool2d, {{1, 1, 1, 4}, {-infinity, -infinity, -infinity, -infinity}},
           {{"kernel", std::vector<std::int64_t>{1, 4}},
            {"stride", 1},
            {"padding", std::vector<std::int64_t>{0, 2}},
            {"dilation", 2}});
  EXPECT_EQ(y, (Floats{-infinity, -infinity}));
  EXPECT_EQ(dx, (Floats{1, 1, 0, 0}));
}

/// Returns 0, 1, 2 and so on.
Tensor counted_up(const Shape& shape) {
  Floats numbers;
  for (std::int64_t i = 0; i < shape.elements(); ++i) numbers.push_back(static_cast<float>(i));
  return {shape, std::span<const float>(numbers)};
}

void expect_near(const Floats& got, const Floats& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5f) << i;
}

// These numbers are PyTorch's.
TEST(Pools, CountWindowsThatEndOutsideAsPyTorchDoes) {
  const Tensor odd = counted_up({1, 1, 5, 7});
  const Attributes halves{{"kernel", 2}, {"ceil_mode", 1}};
  EXPECT_EQ(pool(max_pool2d, odd, halves).y,
            (Floats{8, 10, 12, 13, 22, 24, 26, 27, 29, 31, 33, 34}));
  expect_near(pool(avg_pool2d, odd, halves).y,
              {4, 6, 8, 9.5f, 18, 20, 22, 23.5f, 28.5f, 30.5f, 32.5f, 34});
  const Attributes wide{{"kernel", 3}, {"stride", 2}, {"ceil_mode", 1}};
  EXPECT_EQ(pool(max_pool2d, counted_up({1, 1, 2, 2}), wide).y, (Floats{3}));
  expect_near(pool(avg_pool2d, counted_up({1, 1, 2, 2}), wide).y, {1.5f});
}

TEST(AvgPool2d, DividesByWhatItCountsInCeilMode) {
  Attributes attributes{{"kernel", 3}, {"stride", 2}, {"padding", 1}, {"ceil_mode", 1}};
  const Tensor x = counted_up({1, 1, 6, 8});
  expect_near(pool(avg_pool2d, x, attributes).y,
              {2,         4,  16 / 3.0f, 20 / 3.0f, 11 / 3.0f, 11,    18, 20, 22, 11.5f,
               65 / 3.0f, 34, 36,        38,        19.5f,     13.5f, 21, 22, 23, 11.75f});
  attributes.set("count_include_pad", std::int64_t{0});
  expect_near(pool(avg_pool2d, x, attributes).y, {4.5f,  6,  8,  10, 11, 16.5f, 18, 20, 22, 23,
                                                  32.5f, 34, 36, 38, 39, 40.5f, 42, 44, 46, 47});
}

TEST(AvgPool2d, CountsPaddingAsZeros) {
  const auto [y, dx] = pool(avg_pool2d, {{1, 1, 2, 2}, {4, 8, 12, 16}},
                            {{"kernel", 2}, {"stride", 2}, {"padding", 1}});
  EXPECT_EQ(y, (Floats{1, 2, 3, 4}));
  EXPECT_EQ(dx, (Floats{0.25f, 0.25f, 0.25f, 0.25f}));
}

}  // namespace
}  // namespace penstock::graph
