// These tests check that ops with a ReLU of their own give the bits of the two ops that they
// replace.

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

/// Returns a random bias. Its first element is NaN, which a ReLU keeps.
Tensor bias_of(std::int64_t size) {
  const Tensor random = uniform({size}, 3);
  std::vector<float> values(random.as<float>().begin(), random.as<float>().end());
  values[0] = std::numeric_limits<float>::quiet_NaN();
  return Tensor({size}, std::span<const float>(values));
}

void expect_same_as_two_ops(const OpCall& call) {
  OpCall fused = call;
  fused.attributes.set("relu", std::int64_t{1});
  const Tensor plain = run(call)[0];
  const Tensor expected = run({.op = &graph::relu, .inputs = {plain}})[0];
  EXPECT_TRUE(same_bits(run(fused)[0], expected));
  EXPECT_FALSE(same_bits(plain, expected)) << "nothing was below zero";
}

TEST(FusedRelu, OfALinearLayerIsThatOfTheTwoOps) {
  // Some shapes have few rows and some have many, some have tiles with a rest and some without, and
  // some have a depth of one block and some of several.
  for (const Shape& shape : {Shape{1, 5, 3}, Shape{2, 300, 64}, Shape{33, 17, 40},
                             Shape{40, 320, 256}, Shape{64, 700, 96}}) {
    const Tensor x = uniform({shape[0], shape[1]}, 1), weight = uniform({shape[2], shape[1]}, 2);
    expect_same_as_two_ops({.op = &graph::linear, .inputs = {x, weight, bias_of(shape[2])}});
    expect_same_as_two_ops({.op = &graph::linear, .inputs = {x, weight}});
  }
}

TEST(FusedRelu, OfAConvolutionIsThatOfTheTwoOps) {
  for (const std::int64_t groups : {1, 2})
    for (const std::int64_t channels : {4, 300})
      // With many channels and many results, the kernel reads images directly instead of packing.
      for (const std::int64_t results : {6, 32, 80})
        expect_same_as_two_ops(
            {.op = &graph::conv2d,
             .attributes = {{"groups", groups}, {"padding", 1}},
             .inputs = {uniform({2, channels, 7, 5}, 1),
                        uniform({results, channels / groups, 3, 3}, 2), bias_of(results)}});
}

TEST(FusedRelu, OfADepthwiseConvolutionIsThatOfTheTwoOps) {
  std::vector<float> pixels(2 * 6 * 7 * 5, 0.5f);
  pixels[3] = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t stride : {1, 2})
    for (const Tensor& x : {uniform({2, 6, 7, 5}, 1), Tensor({2, 6, 7, 5}, pixels)})
      expect_same_as_two_ops(
          {.op = &graph::conv2d,
           .attributes = {{"groups", std::int64_t{6}}, {"padding", 1}, {"stride", stride}},
           .inputs = {x, uniform({6, 1, 3, 3}, 2), bias_of(6)}});
}

}  // namespace
}  // namespace penstock::testing
