// These tests compare the convolution of one pixel with lanes with conv2d, over numbers of channels
// and pixels that reach every edge of its tiles.
#include "graph/ops/convolution/pointwise_lanes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

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

class PointwiseLanes : public ::testing::TestWithParam<Geometry> {
 protected:
  std::int64_t batch() const { return GetParam().x[0]; }

  const Tensor x_ = testing::uniform(GetParam().x, 1);
  const Tensor weight_ = testing::uniform(GetParam().weight, 2);
  const Tensor bias_ = testing::uniform({GetParam().weight[0]}, 3);
  const Tensor y_ = outputs_of(conv2d, {x_, weight_, bias_})[0];
  const Tensor dy_ = testing::uniform(y_.shape(), 4);
};

TEST_P(PointwiseLanes, GivesWhatConv2dGives) {
  const Tensor lanes = outputs_of(pointwise_conv2d_lanes, {lanes_of(x_), weight_, bias_})[0];
  expect_close(samples_of(lanes, batch()), y_);
  const Tensor without = outputs_of(pointwise_conv2d_lanes, {lanes_of(x_), weight_})[0];
  expect_close(samples_of(without, batch()), outputs_of(conv2d, {x_, weight_})[0]);
}

TEST_P(PointwiseLanes, MayEndInARelu) {
  const Tensor lanes =
      outputs_of(pointwise_conv2d_lanes, {lanes_of(x_), weight_, bias_}, {{"relu", 1}})[0];
  expect_close(samples_of(lanes, batch()), outputs_of(relu, {y_})[0]);
}

TEST_P(PointwiseLanes, SendsBackWhatConv2dSendsBack) {
  const Tensor dx = outputs_of(pointwise_conv2d_lanes_input_gradient, {lanes_of(dy_), weight_})[0];
  const List size{x_.shape()[2], x_.shape()[3]};
  expect_close(samples_of(dx, batch()),
               outputs_of(conv2d_input_gradient, {dy_, weight_}, {{"input_size", size}})[0]);
}

TEST_P(PointwiseLanes, SumsTheWeightGradient) {
  const Tensor dweight =
      outputs_of(pointwise_conv2d_lanes_weight_gradient, {lanes_of(x_), lanes_of(dy_)})[0];
  expect_close(dweight, outputs_of(conv2d_weight_gradient, {x_, dy_}, {{"kernel", 1}})[0]);
}

INSTANTIATE_TEST_SUITE_P(Geometries, PointwiseLanes,
                         ::testing::Values(Geometry{{32, 3, 5, 4}, {5, 3, 1, 1}},
                                           Geometry{{16, 1, 1, 1}, {1, 1, 1, 1}},
                                           Geometry{{16, 37, 3, 3}, {150, 37, 1, 1}},
                                           Geometry{{48, 130, 1, 1}, {33, 130, 1, 1}},
                                           Geometry{{16, 6, 12, 11}, {24, 6, 1, 1}}));

}  // namespace
}  // namespace penstock::graph
