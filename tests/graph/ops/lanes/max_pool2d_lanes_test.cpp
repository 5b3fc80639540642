// These tests check that max pooling with lanes gives the bits of max pooling without lanes.
#include "graph/ops/lanes/max_pool2d_lanes.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "graph/ops/convolution/max_pool2d.hpp"
#include "tests/graph/ops/lanes/lanes_run.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::lanes_of;
using testing::outputs_of;
using testing::same_bits;
using testing::samples_of;
using List = std::vector<std::int64_t>;

struct Pooling {
  Shape x;
  Attributes attributes;
};

void PrintTo(const Pooling& pooling, std::ostream* stream) {
  *stream << to_string(pooling.x);
}

class MaxPool2dLanes : public ::testing::TestWithParam<Pooling> {
 protected:
  /// Returns a tensor of few different values, so that pixels are often equal. Some are NaN or
  /// infinite.
  static Tensor draw(const Shape& shape) {
    const Tensor numbers = testing::labels(shape, 5, 12);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    std::vector<float> values;
    for (const std::int64_t number : numbers.as<std::int64_t>())
      values.push_back(number == 0   ? std::numeric_limits<float>::quiet_NaN()
                       : number == 1 ? infinity
                       : number < 5  ? -infinity
                                     : static_cast<float>(number));
    return {shape, std::span<const float>(values)};
  }

  const std::int64_t batch = GetParam().x[0];
  const Attributes& attributes = GetParam().attributes;
  const Tensor x = draw(GetParam().x);
  const std::vector<Tensor> expected = outputs_of(max_pool2d, {x}, attributes);
  const std::vector<Tensor> lanes = outputs_of(max_pool2d_lanes, {lanes_of(x)}, attributes);
};

TEST_P(MaxPool2dLanes, TakesTheSameMaxima) {
  EXPECT_TRUE(same_bits(samples_of(lanes[0], batch), expected[0]));
}

TEST_P(MaxPool2dLanes, SendsTheGradientToTheSamePixels) {
  Attributes back = attributes;
  back.set("input_size", List{x.shape()[2], x.shape()[3]});
  const Tensor dy = testing::uniform(expected[0].shape(), 6);
  const Tensor dx = outputs_of(max_pool2d_gradient, {expected[1], dy}, back)[0];
  const Tensor actual = outputs_of(max_pool2d_lanes_gradient, {lanes[1], lanes_of(dy)}, back)[0];
  EXPECT_TRUE(same_bits(samples_of(actual, batch), dx));
  testing::expect_zero_padding(actual, batch);
}

INSTANTIATE_TEST_SUITE_P(
    Poolings, MaxPool2dLanes,
    ::testing::Values(Pooling{{20, 3, 24, 24}, {{"kernel", 2}}},
                      Pooling{{16, 2, 7, 5}, {{"kernel", 2}}},
                      Pooling{{5, 2, 9, 7}, {{"kernel", 3}, {"stride", 2}, {"padding", 1}}},
                      Pooling{{33, 1, 5, 8},
                              {{"kernel", List{2, 3}}, {"stride", 1}, {"padding", List{1, 0}}}},
                      Pooling{{1, 1, 16, 16}, {{"kernel", 16}}}));

}  // namespace
}  // namespace penstock::graph
