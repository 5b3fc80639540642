// These tests compare the depthwise convolution with lanes with conv2d of as many groups as
// channels, over geometries that reach every edge of its tiles.
#include "graph/ops/lanes/depthwise_lanes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
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

class DepthwiseLanes : public ::testing::TestWithParam<Geometry> {
 protected:
  std::int64_t batch() const { return GetParam().x[0]; }
  Attributes plain() const {
    Attributes attributes = attributes_;
    attributes.set("groups", x_.shape()[1]);
    return attributes;
  }
  /// Returns `attributes` with the height and the width of `shape` as the attribute `size`.
  static Attributes with_size(Attributes attributes, const char* size, const Shape& shape) {
    attributes.set(size, List{shape[2], shape[3]});
    return attributes;
  }
  Tensor input_gradient(const Tensor& weight) const {
    return outputs_of(depthwise_conv2d_lanes_input_gradient, {lanes_of(dy_), weight},
                      with_size(attributes_, "input_size", x_.shape()))[0];
  }
  Tensor plain_input_gradient(const Tensor& weight) const {
    return outputs_of(conv2d_input_gradient, {dy_, weight},
                      with_size(plain(), "input_size", x_.shape()))[0];
  }

  const Attributes attributes_{{"padding", GetParam().padding}, {"stride", GetParam().stride}};
  const Tensor x_ = testing::uniform(GetParam().x, 1);
  const Tensor weight_ = testing::uniform(GetParam().weight, 2);
  const Tensor bias_ = testing::uniform({GetParam().weight[0]}, 3);
  const Tensor y_ = outputs_of(conv2d, {x_, weight_, bias_}, plain())[0];
  const Tensor dy_ = testing::uniform(y_.shape(), 4);
};

TEST_P(DepthwiseLanes, GivesWhatConv2dGives) {
  const Tensor lanes =
      outputs_of(depthwise_conv2d_lanes, {lanes_of(x_), weight_, bias_}, attributes_)[0];
  expect_close(samples_of(lanes, batch()), y_);
  const Tensor without =
      outputs_of(depthwise_conv2d_lanes, {lanes_of(x_), weight_}, attributes_)[0];
  expect_close(samples_of(without, batch()), outputs_of(conv2d, {x_, weight_}, plain())[0]);
}

TEST_P(DepthwiseLanes, MayEndInARelu) {
  Attributes with_relu = attributes_;
  with_relu.set("relu", 1);
  const Tensor lanes =
      outputs_of(depthwise_conv2d_lanes, {lanes_of(x_), weight_, bias_}, with_relu)[0];
  expect_close(samples_of(lanes, batch()), outputs_of(relu, {y_})[0]);
}

TEST_P(DepthwiseLanes, SendsBackWhatConv2dSendsBack) {
  expect_close(samples_of(input_gradient(weight_), batch()), plain_input_gradient(weight_));
}

TEST_P(DepthwiseLanes, SumsTheWeightGradient) {
  const Tensor dweight =
      outputs_of(depthwise_conv2d_lanes_weight_gradient, {lanes_of(x_), lanes_of(dy_)},
                 with_size(attributes_, "kernel", weight_.shape()))[0];
  expect_close(dweight, outputs_of(conv2d_weight_gradient, {x_, dy_},
                                   with_size(plain(), "kernel", weight_.shape()))[0]);
}

TEST_P(DepthwiseLanes, SendsInfinityBackToThePixelsThatMetItAlone) {
  for (const float value :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> numbers(weight_.as<float>().begin(), weight_.as<float>().end());
    numbers[0] = value;
    const Tensor weight(weight_.shape(), std::span<const float>(numbers));
    const Tensor expected = plain_input_gradient(weight);
    const Tensor actual = samples_of(input_gradient(weight), batch());
    for (std::size_t i = 0; i < expected.as<float>().size(); ++i)
      EXPECT_EQ(std::isfinite(actual.as<float>()[i]), std::isfinite(expected.as<float>()[i])) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Geometries, DepthwiseLanes,
                         ::testing::Values(Geometry{{32, 3, 25, 5}, {3, 1, 3, 3}, {1, 1}},
                                           Geometry{{16, 2, 7, 21}, {2, 1, 5, 5}, {2, 2}},
                                           Geometry{{16, 1, 1, 1}, {1, 1, 1, 1}},
                                           Geometry{{48, 2, 3, 9}, {2, 1, 2, 7}, {1, 6}},
                                           Geometry{{16, 2, 4, 3}, {2, 1, 4, 3}},
                                           Geometry{{16, 4, 6, 2}, {4, 1, 3, 5}, {2, 4}},
                                           Geometry{{16, 3, 24, 25}, {3, 1, 3, 3}, {1, 1}, {2, 2}},
                                           Geometry{{32, 1, 9, 8}, {1, 1, 5, 4}, {2, 3}, {2, 2}},
                                           Geometry{{16, 2, 5, 6}, {2, 1, 1, 1}, {0, 0}, {2, 2}},
                                           Geometry{{16, 2, 4, 9}, {2, 1, 3, 2}, {2, 0}, {1, 2}},
                                           Geometry{{16, 1, 7, 3}, {1, 1, 2, 3}, {1, 2}, {2, 1}},
                                           Geometry{{16, 1, 1, 1}, {1, 1, 3, 3}, {1, 1}, {2, 2}}));

}  // namespace
}  // namespace penstock::graph
