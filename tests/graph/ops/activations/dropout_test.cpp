#include "graph/ops/activations/dropout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

TEST(Dropout, IsTheIdentityAtInference) {
  EXPECT_EQ(&dropout.inference(), &identity);
}

}  // namespace
}  // namespace penstock::graph
