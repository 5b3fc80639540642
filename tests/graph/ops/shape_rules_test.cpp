// What the shape rules refuse, and in which words. One row per mistake.
#include <gtest/gtest.h>

#include <string>

#include "graph/op.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

using List = std::vector<std::int64_t>;

TensorType f32(Shape shape) {
  return {DType::f32, shape};
}

struct Refused {
  std::string_view op;
  std::vector<TensorType> inputs;
  Attributes attributes;
  std::string text;
};

void PrintTo(const Refused& refused, std::ostream* stream) {
  *stream << refused.op << ": " << refused.text;
}

class ShapeRules : public ::testing::TestWithParam<Refused> {};

TEST_P(ShapeRules, SayWhatWasExpectedAndWhatCame) {
  const auto& [op, inputs, attributes, text] = GetParam();
  try {
    find_op(op).infer(attributes, inputs);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::shape_mismatch);
    EXPECT_EQ(error.what(), text);
  }
}

const TensorType image = f32({2, 4, 8, 8}), weight = f32({6, 4, 3, 3});

INSTANTIATE_TEST_SUITE_P(
    Conv2d, ShapeRules,
    ::testing::Values(
        Refused{"conv2d", {image}, {}, "expected 3 inputs (x, weight, bias), got 1"},
        Refused{"conv2d", {f32({4, 8, 8}), weight}, {}, "expected x of rank 4, got f32[4,8,8]"},
        Refused{"conv2d",
                {{DType::i64, {2, 4, 8, 8}}, weight},
                {},
                "expected x of type f32, got i64[2,4,8,8]"},
        Refused{"conv2d", {image, f32({6, 4, 9})}, {}, "expected weight of rank 4, got f32[6,4,9]"},
        Refused{"conv2d", {image, f32({6, 5, 3, 3})}, {}, "expected 5 input channels, got 4"},
        Refused{"conv2d", {image, weight, f32({4})}, {}, "expected bias of shape [6], got [4]"},
        Refused{"conv2d",
                {image, weight, {DType::i64, {6}}},
                {},
                "expected bias of type f32, got i64[6]"},
        Refused{"conv2d",
                {image, f32({6, 1, 3, 3})},
                {{"groups", 3}},
                "expected a number of input channels that divides into 3 groups, got 4"},
        Refused{"conv2d",
                {image, f32({5, 2, 3, 3})},
                {{"groups", 2}},
                "expected a number of output channels that divides into 2 groups, got 5"},
        Refused{"conv2d", {image, weight}, {{"groups", 0}}, "expected groups of at least 1, got 0"},
        Refused{"conv2d", {image, weight}, {{"stride", 0}}, "expected stride of at least 1, got 0"},
        Refused{"conv2d",
                {image, weight},
                {{"stride", List{1, -2}}},
                "expected stride of at least 1, got -2"},
        Refused{"conv2d",
                {image, weight},
                {{"stride", List{1, 1, 1}}},
                "expected stride of one or two integers, got 3"},
        Refused{
            "conv2d", {image, weight}, {{"padding", -1}}, "expected padding of at least 0, got -1"},
        Refused{"conv2d",
                {image, weight},
                {{"padding", std::int64_t{1} << 40}},
                "expected padding of at most 1073741824, got 1099511627776"},
        Refused{
            "conv2d", {image, weight}, {{"dilation", 0}}, "expected dilation of at least 1, got 0"},
        Refused{"conv2d",
                {image, weight},
                {{"dilation", List{1, 5}}, {"padding", 1}},
                "expected a kernel no larger than the padded input 10x10, got 3x11"},
        Refused{"conv2d", {image, f32({6, 4, 0, 3})}, {}, "expected kernel of at least 1, got 0"}));

std::vector<Refused> refused_by_pooling(std::string_view op) {
  return {
      {op, {image, image}, {{"kernel", 2}}, "expected 1 input (x), got 2"},
      {op, {f32({4, 8})}, {{"kernel", 2}}, "expected x of rank 4, got f32[4,8]"},
      {op,
       {f32({2, 4, 0, 8})},
       {{"kernel", 2}},
       "expected x with at least one pixel, got f32[2,4,0,8]"},
      {op, {image}, {}, "expected kernel of at least 1, got 0"},
      {op, {image}, {{"kernel", 2}, {"stride", 0}}, "expected stride of at least 1, got 0"},
      {op,
       {image},
       {{"kernel", List{9, 2}}},
       "expected a kernel no larger than the padded input 8x8, got 9x2"},
      {op,
       {image},
       {{"kernel", List{4, 2}}, {"padding", 2}},
       "expected padding of at most half the kernel, which is 2, got 2"},
  };
}

INSTANTIATE_TEST_SUITE_P(MaxPool2d, ShapeRules,
                         ::testing::ValuesIn(refused_by_pooling("max_pool2d")));
INSTANTIATE_TEST_SUITE_P(AvgPool2d, ShapeRules,
                         ::testing::ValuesIn(refused_by_pooling("avg_pool2d")));

INSTANTIATE_TEST_SUITE_P(
    OtherOps, ShapeRules,
    ::testing::Values(
        Refused{"max_pool2d",
                {f32({1, 1, 5000, 5000})},
                {{"kernel", 5000}},
                "expected a kernel of at most 16777216 cells, got 25000000"},
        Refused{"global_avg_pool2d", {f32({4, 8})}, {}, "expected x of rank 4, got f32[4,8]"},
        Refused{"global_avg_pool2d",
                {f32({4, 8, 0, 3})},
                {},
                "expected x with at least one pixel, got f32[4,8,0,3]"},
        Refused{"linear", {f32({5, 7}), f32({3, 6})}, {}, "expected 6 input features, got 7"},
        Refused{"linear",
                {f32({5, 7}), f32({3, 7}), f32({7})},
                {},
                "expected bias of shape [3], got [7]"},
        Refused{"channel_sum", {f32({5})}, {}, "expected x of rank 2 or more, got f32[5]"},
        Refused{"matmul", {f32({5, 7})}, {}, "expected 2 inputs (a, b), got 1"},
        Refused{"matmul", {f32({7}), f32({7, 5})}, {}, "expected a of rank 2 or more, got f32[7]"},
        Refused{"matmul",
                {f32({2, 5, 7}), f32({3, 7, 4})},
                {},
                "expected a and b with the same leading dimensions, got [2,5,7] and [3,7,4]"},
        Refused{"matmul", {f32({5, 7}), f32({5, 7})}, {}, "expected b with 7 rows, got 5"},
        Refused{"matmul",
                {f32({5, 7}), f32({7, 5})},
                {{"transpose_a", 1}},
                "expected b with 5 rows, got 7"}));

}  // namespace
}  // namespace penstock::graph
