#include "graph/ops/arithmetic/arithmetic.hpp"

#include <gtest/gtest.h>

#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/arithmetic/sums.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

/// Returns the element of `tensor` that broadcasting puts at `index` of the result.
float element(const Tensor& tensor, const Shape& result, std::int64_t index) {
  std::int64_t offset = 0, stride = 1;
  for (std::ptrdiff_t axis = -1; - axis <= static_cast<std::ptrdiff_t>(result.rank()); --axis) {
    const std::int64_t at = index % result[axis];
    index /= result[axis];
    if (-axis > static_cast<std::ptrdiff_t>(tensor.shape().rank())) continue;
    if (tensor.shape()[axis] != 1) offset += at * stride;
    stride *= tensor.shape()[axis];
  }
  return tensor.as<float>()[static_cast<std::size_t>(offset)];
}

struct Pair {
  Shape a, b, result;
};

TEST(Arithmetic, BroadcastsAsNumPyDoes) {
  const Pair table[] = {
      {{2, 3}, {2, 3}, {2, 3}},       {{2, 3, 4}, {3, 1}, {2, 3, 4}},
      {{1, 4}, {3, 2, 1}, {3, 2, 4}}, {{}, {2, 2}, {2, 2}},
      {{2, 1}, {1, 2}, {2, 2}},       {{}, {}, {}},
      {{1, 1}, {1}, {1, 1}},          {{2, 1, 3, 1, 2}, {4, 1, 5, 1}, {2, 4, 3, 5, 2}},
  };
  for (const Pair& pair : table) {
    SCOPED_TRACE(to_string(pair.a) + " and " + to_string(pair.b));
    const Tensor a = testing::uniform(pair.a, 1), b = testing::uniform(pair.b, 2);
    const Tensor sum = testing::run({.op = &add, .inputs = {a, b}})[0];
    const Tensor difference = testing::run({.op = &sub, .inputs = {a, b}})[0];
    const Tensor product = testing::run({.op = &mul, .inputs = {a, b}})[0];
    ASSERT_EQ(sum.shape(), pair.result);
    for (std::int64_t i = 0; i < sum.elements(); ++i) {
      const float x = element(a, pair.result, i), y = element(b, pair.result, i);
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(sum.as<float>()[at], x + y);
      EXPECT_EQ(difference.as<float>()[at], x - y);
      EXPECT_EQ(product.as<float>()[at], x * y);
    }
  }
}

TEST(Mean, DividesByFewerElementsIfItIsCorrected) {
  const Tensor x({2, 4}, {1, 2, 3, 6, -1, 0, 1, 9});
  const auto corrected = [&](std::int64_t correction) {
    const Attributes attributes{{"axes", std::vector<std::int64_t>{1}}, {"correction", correction}};
    return testing::run({.op = &mean, .attributes = attributes, .inputs = {x}})[0];
  };
  EXPECT_TRUE(testing::same_bits(corrected(0), Tensor({2}, {3, 2.25f})));
  EXPECT_TRUE(testing::same_bits(corrected(1), Tensor({2}, {4, 3})));
  EXPECT_TRUE(testing::same_bits(corrected(3), Tensor({2}, {12, 9})));
}

TEST(ReduceTo, SumsAMillionTermsToFullPrecision) {
  const std::vector<float> tenths(1 << 20, 0.1f);
  const Tensor x({1 << 19, 2}, std::span<const float>(tenths));
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{2}, {1, 1}}) {
    const Tensor sum =
        testing::run({.op = &reduce_to, .attributes = {{"shape", shape}}, .inputs = {x}})[0];
    EXPECT_FLOAT_EQ(sum.as<float>()[0], static_cast<float>((1 << 20) / sum.elements()) * 0.1f);
  }
}

}  // namespace
}  // namespace penstock::graph
