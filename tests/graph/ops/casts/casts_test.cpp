// These tests check that casts make of each element what their definitions say, for every type.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "graph/ops/casts/casts.hpp"
#include "graph/ops/list.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::same_bits;

Tensor cast(const Op& op, const std::vector<Tensor>& inputs, const Attributes& attributes = {}) {
  return testing::run({.op = &op, .attributes = attributes, .inputs = inputs})[0];
}

const Tensor bytes({4}, std::vector<std::uint8_t>{0, 1, 128, 255});
const Tensor small({3}, std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min(), -1, 7});
const Tensor large({3}, std::vector<std::int64_t>{-5, 0, (std::int64_t{1} << 40) + 1});
const Tensor mask({3}, std::array{true, false, true});

TEST(Casts, ToFloatKeepWhatF32Has) {
  EXPECT_TRUE(same_bits(cast(to_float, {bytes}), Tensor({4}, {0, 1, 128, 255})));
  EXPECT_TRUE(same_bits(cast(to_float, {small}), Tensor({3}, {-0x1p31f, -1, 7})));
  EXPECT_TRUE(same_bits(cast(to_float, {large}), Tensor({3}, {-5, 0, 0x1p40f})));
  EXPECT_TRUE(same_bits(cast(to_float, {mask}), Tensor({3}, {1, 0, 1})));
}

TEST(Casts, ToI64KeepEveryNumber) {
  const auto i64 = [](const Shape& shape, const std::vector<std::int64_t>& values) {
    return Tensor(shape, values);
  };
  EXPECT_TRUE(same_bits(cast(to_i64, {bytes}), i64({4}, {0, 1, 128, 255})));
  EXPECT_TRUE(same_bits(cast(to_i64, {small}), i64({3}, {-2147483648, -1, 7})));
  EXPECT_TRUE(same_bits(cast(to_i64, {mask}), i64({3}, {1, 0, 1})));
}

/// Returns what to_float() is defined to be: a product in f32 and then a sum in f32.
float affine(std::uint8_t x, float scale, float shift) {
  const volatile float product = static_cast<float>(x) * scale;  // No compiler fuses the sum.
  return product + shift;
}

TEST(Casts, ToFloatRoundTheProductAndThenTheSum) {
  std::vector<std::uint8_t> all(256);
  std::vector<float> expected;
  const double scale = 1 / (255 * 0.3081), shift = -0.1307 / 0.3081;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<std::uint8_t>(i);
    expected.push_back(affine(all[i], static_cast<float>(scale), static_cast<float>(shift)));
  }
  EXPECT_TRUE(same_bits(cast(to_float, {Tensor({256}, all)}, {{"scale", scale}, {"shift", shift}}),
                        Tensor({256}, expected)));
}

// Runs of one channel begin and end inside the parts into which threads divide the elements.
TEST(Casts, ToFloatHaveAScaleAndAShiftForEachChannel) {
  for (const Shape& shape : {Shape{2, 3, 5, 7}, Shape{4, 3}, Shape{1, 3, 1, 1}, Shape{0, 3, 2}}) {
    const Tensor x = testing::labels(shape, 1, 256, DType::u8);
    const Tensor scale({3}, {0.1f, -2, 0.003f}), shift({3}, {-1.7f, 0.3f, 5});
    std::vector<float> expected;
    const std::int64_t run = shape.elements() / std::max<std::int64_t>(shape[0] * 3, 1);
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
      const auto channel = static_cast<std::size_t>(i / run % 3);
      expected.push_back(affine(x.as<std::uint8_t>()[static_cast<std::size_t>(i)],
                                scale.as<float>()[channel], shift.as<float>()[channel]));
    }
    EXPECT_TRUE(same_bits(cast(to_float, {x, scale, shift}), Tensor(shape, expected)))
        << to_string(shape);
  }
}

struct Move {
  const char* op;
  Shape x;
  Attributes attributes;
};

// A type of the same size may hide an element of the wrong size, so that every type is moved and
// compared with the same elements as i64.
TEST(Casts, ComeToTheSameBeforeAndBehindAMove) {
  using List = std::vector<std::int64_t>;
  const Move moves[] = {
      {"reshape", {2, 6}, {{"shape", List{3, 4}}}},
      {"flatten", {2, 3, 2}, {}},
      {"transpose", {3, 4, 5}, {{"axes", List{2, 0, 1}}}},
      {"slice", {3, 5}, {{"axis", 1}, {"begin", 1}, {"end", 4}}},
      {"pad", {3, 5}, {{"axis", 1}, {"before", 2}, {"after", 1}, {"value", 1.0}}},
      {"index_select", {3, 5}, {{"axis", 1}, {"indices", List{4, 0, 4}}}},
      {"expand", {3, 1}, {{"shape", List{3, 4}}}},
      {"concat", {3, 5}, {{"axis", 1}}},
  };
  for (const DType dtype : {DType::u8, DType::i32, DType::boolean})
    for (const auto& [name, shape, attributes] : moves) {
      const std::int64_t limit = dtype == DType::boolean ? 2 : 200;
      const Tensor x = testing::labels(shape, 3, limit, dtype);
      const Op& move = find_op(name);
      EXPECT_TRUE(same_bits(cast(to_i64, {cast(move, {x}, attributes)}),
                            cast(move, {cast(to_i64, {x})}, attributes)))
          << name << " of " << to_string(dtype);
    }
}

}  // namespace
}  // namespace penstock::graph
