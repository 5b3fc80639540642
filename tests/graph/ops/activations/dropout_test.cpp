#include "graph/ops/activations/dropout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "graph/ops/movement/rearrange.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::OpCall;
using testing::run;
using testing::same_bits;

Tensor filled(const Shape& shape, float value) {
  const std::vector<float> values(static_cast<std::size_t>(shape.elements()), value);
  return {shape, std::span<const float>(values)};
}

OpCall call_with(double p, const Tensor& x, const RandomKey& random = {}) {
  return {.op = &dropout, .attributes = {{"p", p}}, .inputs = {x}, .random = random};
}

TEST(Dropout, KeepsTheFractionThatItShould) {
  constexpr std::int64_t elements = 1 << 18;
  for (const double p : {0.1, 0.5, 0.9}) {
    const Tensor y = run(call_with(p, filled({elements}, 1)))[0];
    const auto dropped = std::count(y.as<float>().begin(), y.as<float>().end(), 0.0f);
    // Five standard deviations of a binomial distribution are allowed. The draws are always the
    // same.
    const double deviation = std::sqrt(p * (1 - p) / elements);
    EXPECT_NEAR(static_cast<double>(dropped) / elements, p, 5 * deviation);
  }
}

TEST(Dropout, ScalesWhatItKeeps) {
  const Tensor x = testing::uniform({1000}, 1, 1, 2);
  const Tensor y = run(call_with(0.2, x))[0];
  for (std::size_t i = 0; i < 1000; ++i) {
    if (y.as<float>()[i] == 0) continue;
    EXPECT_FLOAT_EQ(y.as<float>()[i], x.as<float>()[i] / 0.8f);
  }
}

TEST(Dropout, DropsNothingAtZeroAndEverythingAtOne) {
  const Tensor x = testing::uniform({5, 77}, 1);
  EXPECT_TRUE(same_bits(run(call_with(0, x))[0], x));
  EXPECT_TRUE(same_bits(run(call_with(1, x))[0], Tensor::zeros(DType::f32, {5, 77})));
}

TEST(Dropout, DropsWhatIsNotFiniteToo) {
  const Tensor y = run(call_with(1, filled({70}, std::numeric_limits<float>::infinity())))[0];
  EXPECT_TRUE(same_bits(y, Tensor::zeros(DType::f32, {70})));
}

TEST(Dropout, DrawsAnotherMaskForEveryKey) {
  const Tensor x = filled({4, 64}, 1);
  const RandomKey key{.seed = 1, .update = 2, .replica = 3, .micro_batch = 4, .name = 5};
  std::vector<RandomKey> others(5, key);
  others[0].seed = 2;
  others[1].update = 3;
  others[2].replica = 4;
  others[3].micro_batch = 5;
  others[4].name = 6;
  const Tensor mask = run(call_with(0.5, x, key))[1];
  EXPECT_TRUE(same_bits(run(call_with(0.5, x, key))[1], mask));
  for (const RandomKey& other : others)
    EXPECT_FALSE(same_bits(run(call_with(0.5, x, other))[1], mask));
}

TEST(Dropout, DropsTheSameElementsForEveryShape) {
  const auto flat = run(call_with(0.5, filled({150}, 1)))[1];
  EXPECT_TRUE(same_bits(run(call_with(0.5, filled({3, 50}, 1)))[1], flat));
}

TEST(Dropout, StoresOneBitPerElement) {
  const auto outputs = run(call_with(0.5, filled({3, 50}, 1)));
  ASSERT_EQ(outputs[1].shape(), (Shape{3}));
  for (std::size_t i = 0; i < 150; ++i)
    EXPECT_EQ(outputs[1].as<std::int64_t>()[i / 64] >> (i % 64) & 1,
              outputs[0].as<float>()[i] != 0);
}

TEST(Dropout, GoesBackThroughTheMaskWhateverTheKey) {
  const Tensor x = filled({3, 50}, 1);
  const auto forward = run(call_with(0.5, x));
  const Tensor dx = run({.op = &dropout_gradient,
                         .attributes = {{"p", 0.5}},
                         .inputs = {x, forward[1]},
                         .random = {.seed = 99}})[0];
  EXPECT_TRUE(same_bits(dx, forward[0])) << "dy = x";
}

TEST(Dropout, OfChannelsDropsWholeChannelsOfSamples) {
  const Tensor x = filled({9, 40, 2, 3}, 1);
  OpCall call = call_with(0.4, x);
  call.attributes.set("channels", 1);
  const auto outputs = run(call);
  ASSERT_EQ(outputs[1].shape(), (Shape{6}));
  const auto flat = run(call_with(0.4, filled({9, 40}, 1)));
  EXPECT_TRUE(same_bits(outputs[1], flat[1])) << "a channel is an element of [N,C]";
  for (std::size_t i = 0; i < outputs[0].as<float>().size(); ++i)
    ASSERT_EQ(outputs[0].as<float>()[i], flat[0].as<float>()[i / 6]) << i;
}

/// Returns the mean and the variance of `x`.
std::pair<double, double> moments(const Tensor& x) {
  double sum = 0, squares = 0;
  for (const float value : x.as<float>()) sum += value, squares += double{value} * value;
  const double count = static_cast<double>(x.elements()), mean = sum / count;
  return {mean, squares / count - mean * mean};
}

TEST(Dropout, OfAlphaKeepsMeanAndVariance) {
  // Numbers from -√3 to √3 have the mean 0 and the variance 1.
  const Tensor x = testing::uniform({1 << 10, 1 << 8}, 1, -1.7320508, 1.7320508);
  for (const double p : {0.1, 0.5, 0.9})
    for (const int channels : {0, 1}) {
      OpCall call = call_with(p, x);
      call.attributes.set("alpha", 1).set("channels", channels);
      const auto [mean, variance] = moments(run(call)[0]);
      EXPECT_NEAR(mean, 0, 0.02) << p;
      EXPECT_NEAR(variance, 1, 0.02) << p;
    }
}

// PyTorch computes x·a·mask + (mask - 1)·α·a + α·a·p, with a = 1/√((α²·p + 1)·(1 - p)).
TEST(Dropout, OfAlphaMakesOfEachElementWhatPyTorchMakesOfIt) {
  const double p = 0.3, alpha = 1.7580993408473766;
  const double a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  const Tensor x = testing::uniform({5, 30}, 1);
  for (const int channels : {0, 1}) {
    OpCall call = call_with(p, x);
    call.attributes.set("alpha", 1).set("channels", channels);
    const auto outputs = run(call);
    for (std::size_t i = 0; i < 150; ++i) {
      const int kept = outputs[1].as<std::int64_t>()[i / 64] >> (i % 64) & 1;
      EXPECT_NEAR(outputs[0].as<float>()[i],
                  x.as<float>()[i] * a * kept + (kept - 1) * alpha * a + alpha * a * p, 1e-6);
    }
  }
}

TEST(Dropout, OfAlphaDropsNothingAtZeroAndEverythingAtOne) {
  const Tensor x = testing::uniform({5, 77}, 1);
  OpCall nothing = call_with(0, x), everything = call_with(1, x);
  nothing.attributes.set("alpha", 1);
  everything.attributes.set("alpha", 1);
  EXPECT_TRUE(same_bits(run(nothing)[0], x));
  EXPECT_TRUE(same_bits(run(everything)[0], Tensor::zeros(DType::f32, {5, 77})));
}

TEST(Dropout, IsTheIdentityAtInference) {
  EXPECT_EQ(&dropout.inference(), &identity);
}

}  // namespace
}  // namespace penstock::graph
