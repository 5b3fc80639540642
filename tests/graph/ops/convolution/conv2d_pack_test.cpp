// These tests compare convolutions whose weights are packed beforehand with those that pack them
// themselves, bit by bit.
#include "graph/ops/convolution/conv2d_pack.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <random>
#include <vector>

#include "graph/ops/convolution/conv2d.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::OpCall;
using testing::run;
using testing::same_bits;
using List = std::vector<std::int64_t>;

struct Geometry {
  Shape x, weight;
  Attributes attributes = {};
  bool has_bias = true;
};

void PrintTo(const Geometry& geometry, std::ostream* stream) {
  *stream << to_string(geometry.x) << " * " << to_string(geometry.weight);
}

std::optional<PackedForm> packed_form(const Geometry& geometry) {
  const std::vector<TensorType> types{{DType::f32, geometry.x}, {DType::f32, geometry.weight}};
  return conv2d.packed_form(geometry.attributes, types);
}

/// Expects the same bits of both forms, also if the packed one is computed in several parts.
void expect_same_bits(const Geometry& geometry) {
  const auto form = packed_form(geometry);
  ASSERT_TRUE(form);
  OpCall plain{.op = &conv2d,
               .attributes = geometry.attributes,
               .inputs = {testing::uniform(geometry.x, 1), testing::uniform(geometry.weight, 2)}};
  if (geometry.has_bias) plain.inputs.push_back(testing::uniform({geometry.weight[0]}, 3));
  OpCall packed = plain;
  packed.op = form->op;
  packed.attributes = form->attributes;
  packed.inputs[1] =
      run({.op = form->pack, .attributes = form->pack_attributes, .inputs = {plain.inputs[1]}})[0];
  const Tensor y = run(plain)[0];
  EXPECT_TRUE(same_bits(run(packed)[0], y));
  const std::int64_t units = testing::units_of(packed);
  ASSERT_EQ(units, testing::units_of(plain));
  EXPECT_TRUE(same_bits(run(packed, {.parts = {{units / 2, units}, {0, units / 2}}})[0], y));
}

class Conv2dPack : public ::testing::TestWithParam<Geometry> {};

TEST_P(Conv2dPack, LeavesTheBitsOfConv2d) {
  expect_same_bits(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Geometries, Conv2dPack,
    ::testing::Values(
        // The source is read directly.
        Geometry{{1, 64, 14, 14}, {64, 64, 3, 3}, {{"padding", 1}}},
        Geometry{{2, 17, 9, 9}, {40, 17, 3, 3}, {{"padding", 1}, {"relu", 1}}},
        Geometry{{3, 192, 5, 5}, {96, 192, 1, 1}, {}, false},
        Geometry{{2, 64, 8, 10}, {80, 32, 3, 2}, {{"groups", 2}, {"padding", List{1, 0}}}},
        Geometry{{1, 32, 12, 12}, {32, 32, 3, 3}, {{"dilation", 2}, {"padding", 2}}},
        // There are more panels than are packed at a time.
        Geometry{{1, 300, 6, 6}, {640, 300, 3, 3}, {{"padding", 1}}},
        // No place sees a pixel through the first and the last row of the kernel.
        Geometry{{3, 20, 1, 9}, {32, 20, 3, 3}, {{"padding", 1}}},
        Geometry{{3, 20, 2, 6}, {32, 20, 5, 5}, {{"padding", 2}}},
        // Images are so small that the rows of tiles are samples.
        Geometry{{17, 20, 1, 1}, {48, 20, 3, 3}, {{"padding", 1}}},
        Geometry{{1, 512, 2, 2}, {64, 512, 3, 3}, {{"padding", 1}, {"relu", 1}}},
        Geometry{{5, 40, 4, 4}, {32, 20, 1, 1}, {{"stride", 2}, {"groups", 2}}},
        Geometry{{3, 16, 8, 8}, {80, 16, 3, 3}, {{"stride", 2}, {"padding", 1}}},
        Geometry{{70, 16, 3, 2}, {32, 16, 3, 3}, {{"padding", 4}, {"dilation", 3}, {"stride", 2}}},
        Geometry{{0, 16, 2, 2}, {16, 16, 3, 3}, {{"padding", 1}}}));

Geometry drawn(std::uint32_t seed) {
  std::mt19937 engine(seed);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine() % static_cast<std::uint32_t>(high - low + 1));
  };
  const std::int64_t groups = draw(1, 4) == 1 ? 2 : 1, channels = draw(16, 40);
  const std::int64_t height = draw(1, 12), width = draw(1, 12);
  const Shape weight{groups * draw(14, 70), channels, draw(1, 3), draw(1, 4)};
  const Attributes attributes{{"groups", groups},
                              {"relu", draw(0, 1)},
                              {"stride", draw(1, 4) == 1 ? draw(2, 3) : 1},
                              {"padding", List{draw(0, 2), draw(0, 2)}}};
  return {{draw(1, 5), groups * channels, height, width}, weight, attributes, draw(0, 1) == 1};
}

/// Returns whether the kernel of `geometry` fits into the padded image.
bool fits(const Geometry& geometry) {
  const auto& padding = geometry.attributes.integers("padding");
  return geometry.weight[2] <= geometry.x[2] + 2 * padding[0] &&
         geometry.weight[3] <= geometry.x[3] + 2 * padding[1];
}

TEST(Conv2dPack, LeavesTheBitsOfConv2dForDrawnShapes) {
  int packed = 0, others = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const Geometry geometry = drawn(seed);
    if (!fits(geometry)) continue;
    ++(packed_form(geometry) ? packed : others);
    if (!packed_form(geometry)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_same_bits(geometry);
  }
  EXPECT_GT(packed, 100);
  EXPECT_GT(others, 20);
}

TEST(Conv2dPack, IsNotForConvolutionsThatPackNoWholePanels) {
  EXPECT_FALSE(packed_form({{1, 3, 32, 32}, {32, 3, 3, 3}}));
  EXPECT_FALSE(packed_form({{1, 64, 32, 32}, {64, 64, 3, 3}, {{"stride", 2}}}));
  EXPECT_FALSE(packed_form({{1, 64, 8, 8}, {64, 1, 3, 3}, {{"groups", 64}}}));
  EXPECT_FALSE(packed_form({{1, 64, 8, 8}, {10, 64, 3, 3}}));
}

TEST(Conv2dPack, ServesAllConvolutionsThatPackWeightsAlike) {
  const auto form = packed_form({{1, 64, 8, 8}, {64, 64, 3, 3}, {{"padding", 1}}});
  const auto with_relu =
      packed_form({{7, 64, 8, 8}, {64, 64, 3, 3}, {{"padding", 1}, {"relu", 1}}});
  ASSERT_TRUE(form && with_relu);
  EXPECT_EQ(form->pack_attributes, with_relu->pack_attributes);
}

}  // namespace
}  // namespace penstock::graph
