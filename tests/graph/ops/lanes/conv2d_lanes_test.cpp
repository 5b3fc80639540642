// These tests compare the convolution with lanes with the convolution without lanes, over
// geometries that reach every edge of its tiles, with garbage in the padding lanes of forward
// values.
#include "graph/ops/lanes/conv2d_lanes.hpp"

#include <gtest/gtest.h>

#include <string>

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "tests/graph/ops/lanes/lanes_run.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock::graph {
namespace {

using testing::expect_close;
using testing::Geometry;
using testing::lanes_of;
using testing::outputs_of;
using testing::samples_of;
using List = std::vector<std::int64_t>;

constexpr float garbage = 1e6f;

class Conv2dLanes : public ::testing::TestWithParam<Geometry> {
 protected:
  std::int64_t batch() const { return GetParam().x[0]; }

  const Attributes attributes{{"padding", GetParam().padding}};
  const Tensor x = testing::uniform(GetParam().x, 1);
  const Tensor weight = testing::uniform(GetParam().weight, 2);
  const Tensor bias = testing::uniform({GetParam().weight[0]}, 3);
  const Tensor y = outputs_of(conv2d, {x, weight, bias}, attributes)[0];
  const Tensor dy = testing::uniform(y.shape(), 4);
};

TEST_P(Conv2dLanes, GivesWhatConv2dGives) {
  const auto lanes = outputs_of(conv2d_lanes, {lanes_of(x, garbage), weight, bias}, attributes);
  expect_close(samples_of(lanes[0], batch()), y);
}

TEST_P(Conv2dLanes, NeedsNoBias) {
  const auto lanes = outputs_of(conv2d_lanes, {lanes_of(x), weight}, attributes);
  expect_close(samples_of(lanes[0], batch()), outputs_of(conv2d, {x, weight}, attributes)[0]);
}

TEST_P(Conv2dLanes, SendsBackWhatConv2dSendsBack) {
  Attributes with_size = attributes;
  with_size.set("input_size", List{x.shape()[2], x.shape()[3]});
  const Tensor expected = outputs_of(conv2d_input_gradient, {dy, weight}, with_size)[0];
  const Tensor dx = outputs_of(conv2d_lanes_input_gradient, {lanes_of(dy), weight}, attributes)[0];
  expect_close(samples_of(dx, batch()), expected);
  testing::expect_zero_padding(dx, batch());
}

TEST_P(Conv2dLanes, SumsTheWeightGradientOverRealSamplesOnly) {
  Attributes with_kernel = attributes;
  with_kernel.set("kernel", List{weight.shape()[2], weight.shape()[3]});
  const Tensor expected = outputs_of(conv2d_weight_gradient, {x, dy}, with_kernel)[0];
  const auto actual =
      outputs_of(conv2d_lanes_weight_gradient, {lanes_of(x, garbage), lanes_of(dy)}, attributes);
  expect_close(actual[0], expected);
}

TEST_P(Conv2dLanes, GivesTheSameSamplesIfItMaySkipLanesWithoutSamples) {
  Attributes skipping = attributes;
  skipping.set("batch", batch());
  const Tensor lanes = outputs_of(conv2d_lanes, {lanes_of(x, garbage), weight, bias}, skipping)[0];
  expect_close(samples_of(lanes, batch()), y);
  const auto dx = outputs_of(conv2d_lanes_input_gradient, {lanes_of(dy), weight}, attributes);
  expect_close(outputs_of(conv2d_lanes_input_gradient, {lanes_of(dy), weight}, skipping)[0], dx[0]);
  const std::vector<Tensor> operands{lanes_of(x, garbage), lanes_of(dy)};
  expect_close(outputs_of(conv2d_lanes_weight_gradient, operands, skipping)[0],
               outputs_of(conv2d_lanes_weight_gradient, operands, attributes)[0]);
}

TEST_P(Conv2dLanes, MayEndInARelu) {
  Attributes with_relu = attributes;
  with_relu.set("relu", 1);
  const Tensor lanes = outputs_of(conv2d_lanes, {lanes_of(x), weight, bias}, with_relu)[0];
  expect_close(samples_of(lanes, batch()), outputs_of(relu, {y})[0]);
}

INSTANTIATE_TEST_SUITE_P(Geometries, Conv2dLanes,
                         ::testing::Values(Geometry{{40, 1, 28, 28}, {10, 1, 5, 5}},
                                           Geometry{{17, 10, 12, 12}, {20, 10, 5, 5}},
                                           Geometry{{16, 5, 13, 13}, {12, 5, 5, 5}},
                                           Geometry{{3, 1, 9, 7}, {5, 1, 3, 3}},
                                           Geometry{{1, 1, 1, 1}, {1, 1, 1, 1}},
                                           Geometry{{33, 3, 8, 21}, {4, 3, 2, 7}},
                                           Geometry{{16, 2, 11, 6}, {11, 2, 11, 6}},
                                           Geometry{{20, 4, 6, 5}, {7, 4, 3, 3}, {1, 1}},
                                           Geometry{{5, 2, 3, 9}, {3, 2, 5, 4}, {2, 3}},
                                           Geometry{{18, 1, 2, 2}, {2, 1, 1, 1}, {2, 0}}));

}  // namespace
}  // namespace penstock::graph
