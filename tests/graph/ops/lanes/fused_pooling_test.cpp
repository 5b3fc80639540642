// These tests check that convolution, pooling and ReLU in one op give the bits of the single ops,
// so that the weights do not show whether the ops were fused.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/lanes/conv2d_lanes.hpp"
#include "graph/ops/lanes/conv2d_pool_relu_lanes.hpp"
#include "graph/ops/lanes/max_pool2d_lanes.hpp"
#include "tests/graph/ops/lanes/lanes_run.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/tape.hpp"

namespace penstock::graph {
namespace {

using testing::Geometry;
using testing::Tape;
using testing::uniform;

/// A Layer has a tape with the operands of a convolution as leaves.
struct Layer {
  Tape tape;
  Attributes attributes;
  ValueId x, weight, bias, y = none;

  explicit Layer(const Geometry& geometry, const Tensor& shifts)
      : attributes{{"padding", geometry.padding}, {"batch", geometry.x[0]}},
        x(tape.leaf(testing::lanes_of(uniform(geometry.x, 1)))),
        weight(tape.leaf(uniform(geometry.weight, 2))),
        bias(tape.leaf(shifts)) {}

  ValueId convolution(std::int64_t ends_in_relu = 0) {
    Attributes own = attributes;
    own.set("relu", ends_in_relu);
    return tape.apply(conv2d_lanes, {x, weight, bias}, own)[0];
  }
  ValueId pooled(ValueId value) {
    return tape.apply(max_pool2d_lanes, {value}, {{"kernel", 2}})[0];
  }
  ValueId rectified(ValueId value) { return tape.apply(relu, {value})[0]; }
};

/// A Way is one of several ways to compute the same result. The results of all ways are compared
/// with those of the first one.
struct Way {
  const char* name;
  ValueId (*run)(Layer&);
};

const Way ways[] = {
    {"in one",
     [](Layer& layer) {
       return layer.tape.apply(conv2d_pool_relu_lanes, {layer.x, layer.weight, layer.bias},
                               layer.attributes)[0];
     }},
    {"pool, relu", [](Layer& layer) { return layer.rectified(layer.pooled(layer.convolution())); }},
    {"relu, pool", [](Layer& layer) { return layer.pooled(layer.rectified(layer.convolution())); }},
    {"relu in the convolution, pool",
     [](Layer& layer) { return layer.pooled(layer.convolution(1)); }},
};

/// Returns y and the gradients of x, the weight and the bias.
std::vector<Tensor> results(const Way& way, const Geometry& geometry, const Tensor& shifts) {
  Layer layer(geometry, shifts);
  const ValueId y = way.run(layer);
  const Shape& shape = layer.tape[y].shape();
  const Shape samples{geometry.x[0], shape[1], shape[2], shape[3]};
  layer.tape.backward(y, testing::lanes_of(uniform(samples, 4)));
  return {testing::samples_of(layer.tape[y], geometry.x[0]),
          testing::samples_of(layer.tape.gradient(layer.x), geometry.x[0]),
          layer.tape.gradient(layer.weight), layer.tape.gradient(layer.bias)};
}

void expect_same_bits(const Geometry& geometry, const Tensor& shifts) {
  const char* const names[] = {"y", "dx", "dweight", "dbias"};
  const auto expected = results(ways[0], geometry, shifts);
  for (std::size_t way = 1; way < std::size(ways); ++way) {
    const auto actual = results(ways[way], geometry, shifts);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(testing::same_bits(actual[i], expected[i]))
          << names[i] << " of " << ways[way].name << ", " << ::testing::PrintToString(geometry)
          << ", padding " << geometry.padding[0] << ", " << geometry.padding[1];
  }
}

void expect_same_bits(const Geometry& geometry) {
  expect_same_bits(geometry, uniform({geometry.weight[0]}, 3));
}

// A channel whose sums are NaN lets its gradients through, as in PyTorch.
TEST(FusedPooling, GivesTheBitsOfItsPartsForWhatIsNoNumber) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const Geometry geometry{{19, 2, 7, 8}, {3, 2, 3, 3}};
  const Tensor shifts({3}, {0.5f, nan, -0.5f});
  expect_same_bits(geometry, shifts);
  for (const Way& way : ways) {
    const Tensor bias_gradient = results(way, geometry, shifts)[3];
    EXPECT_NE(bias_gradient.as<float>()[1], 0) << way.name;
  }
}

TEST(FusedPooling, GivesTheBitsOfItsPartsForEveryMicroBatch) {
  for (std::int64_t samples = 1; samples <= 64; ++samples)
    expect_same_bits({{samples, 3, 8, 7}, {6, 3, 3, 3}});
}

// Some kernels are small enough for the tables of weights that the input gradient uses, and others
// are not. The convolved images have even and odd numbers of rows and columns.
TEST(FusedPooling, GivesTheBitsOfItsPartsForEveryKernel) {
  for (std::int64_t height = 1; height <= 8; ++height)
    for (std::int64_t width = 1; width <= 8; ++width)
      expect_same_bits({{19, 2, 9, 10}, {3, 2, height, width}});
}

TEST(FusedPooling, GivesTheBitsOfItsPartsForEveryNumberOfChannels) {
  for (std::int64_t channels = 1; channels <= 9; ++channels)
    for (std::int64_t outputs = 1; outputs <= 11; ++outputs)
      expect_same_bits({{17, channels, 6, 5}, {outputs, channels, 3, 2}});
}

TEST(FusedPooling, GivesTheBitsOfItsPartsForShapesDrawnAtRandom) {
  std::mt19937 random(11);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random()) % (most - least + 1);
  };
  for (int i = 0; i < 60; ++i) {
    const std::int64_t inputs = draw(1, 12), kernel_height = draw(1, 8), kernel_width = draw(1, 8);
    const Shape x{draw(1, 64), inputs, kernel_height + draw(1, 9), kernel_width + draw(1, 9)};
    expect_same_bits({x,
                      {draw(1, 24), inputs, kernel_height, kernel_width},
                      {draw(0, kernel_height - 1), draw(0, kernel_width - 1)}});
  }
}

}  // namespace
}  // namespace penstock::graph
