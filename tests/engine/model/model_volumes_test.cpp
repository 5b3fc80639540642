// These tests check the layers of Model for volumes, and the transposed convolution of sequences:
// the nodes and parameters that they add, and what they refuse. tests/e2e/pytorch_spatial_test.cpp
// compares what they compute with PyTorch.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/engine/model/layer_case.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::ops_of;
using testing::refusal;
using Ops = std::vector<std::string_view>;
using Cases = std::vector<std::pair<const char*, std::function<void()>>>;

void expect_refusals(Errc code, const Cases& cases) {
  for (const auto& [text, layer] : cases) EXPECT_EQ(refusal(code, layer), text);
}

TEST(ModelConv3d, HasTheParametersOfPyTorchsLayerAndSharesThem) {
  Model model;
  const Value x = model.input("x", {4, 5, 6, 7});
  const Value y = model.conv3d(
      "c", x, {.out_channels = 6, .kernel = {2, 3, 4}, .stride = {1, 2, 1}, .groups = 2});
  EXPECT_EQ(model.shape(y), (Shape{1, 6, 4, 2, 4}));
  EXPECT_EQ(model.tensor_name(y), "c");
  ASSERT_EQ(model.parameters().size(), 2u);
  EXPECT_EQ(model.parameters()[0].name, "c.weight");
  EXPECT_EQ(model.parameters()[0].shape, (Shape{6, 2, 2, 3, 4}));
  EXPECT_EQ(model.parameters()[1].shape, (Shape{6}));
  const Value again = model.conv3d(x, model.parameter("c.weight"), model.parameter("c.bias"),
                                   {.padding = 1, .groups = 2});
  EXPECT_EQ(model.shape(again), (Shape{1, 6, 6, 6, 6}));
  EXPECT_EQ(model.parameters().size(), 2u);
}

TEST(ModelConv3d, TakesNoElementsWhereAllAreInPlace) {
  Model model;
  const Value x = model.input("x", {2, 3, 6, 4});
  model.conv3d("c", x, {.out_channels = 3, .kernel = {3, 2, 2}, .stride = {1, 2, 2}});
  EXPECT_EQ(ops_of(model), (Ops{"reshape", "reshape", "conv2d", "reshape"}));
}

TEST(ModelConv3d, RefusesWhatDoesNotFitAndLeavesNothingBehind) {
  Model model;
  const Value x = model.input("x", {4, 3, 5, 6}), image = model.input("image", {4, 5, 5});
  const Value weight = model.parameter("w", {2, 3, 1, 1, 1});
  expect_refusals(
      Errc::shape_mismatch,
      {{"conv3d \"c\": expected x of rank 5, got [1,4,5,5]; reshape() gives it another rank",
        [&] { model.conv3d("c", image, {.out_channels = 2, .kernel = 1}); }},
       {"conv3d \"c\": expected out_channels of 1 or more, got 0",
        [&] { model.conv3d("c", x, {.kernel = 1}); }},
       {"conv3d \"c\": expected kernel of 1 or more, got 0",
        [&] {
          model.conv3d("c", x, {.out_channels = 2, .kernel = {1, 0, 1}});
        }},
       {"conv3d \"c\": expected a kernel of at most 3 slices, which the padded input has, got 4",
        [&] {
          model.conv3d("c", x, {.out_channels = 2, .kernel = {4, 1, 1}});
        }},
       {"conv3d \"c\": expected a kernel of at most 7 rows, which the padded input has, got 9",
        [&] {
          model.conv3d("c", x,
                       {.out_channels = 2, .kernel = 3, .padding = 1, .dilation = {1, 4, 1}});
        }},
       {"conv3d \"c\": expected a number of input channels that divides into 3 groups, got 4",
        [&] { model.conv3d("c", x, {.out_channels = 3, .kernel = 1, .groups = 3}); }},
       {"conv3d \"c\": expected stride from 1 to 1073741824, got 0",
        [&] { model.conv3d("c", x, {.out_channels = 3, .kernel = 1, .stride = 0}); }},
       {"conv3d: expected 3 input channels, got 4", [&] { model.conv3d(x, weight); }},
       {"conv3d: expected weight of rank 5, got [4,4]; reshape() gives it another rank", [&] {
          model.conv3d(x, model.parameter("small", {4, 4}));
        }}});
  EXPECT_EQ(
      refusal(Errc::invalid_argument, [&] { model.conv3d(x, weight, {}, {.out_channels = 3}); }),
      "conv3d: expected options without out_channels, kernel and bias, because the "
      "convolution has the weight and the bias of another layer");
  EXPECT_TRUE(ops_of(model).empty());
  EXPECT_EQ(model.parameters().size(), 2u);
}

TEST(ModelConvTranspose1d, HasTheParametersOfPyTorchsLayerAndSharesThem) {
  Model model;
  const Value x = model.input("x", {4, 5});
  const Value y = model.conv_transpose1d(
      "c", x, {.out_channels = 6, .kernel = 3, .stride = 2, .output_padding = 1, .groups = 2});
  EXPECT_EQ(model.shape(y), (Shape{1, 6, 12}));
  EXPECT_EQ(model.tensor_name(y), "c");
  ASSERT_EQ(model.parameters().size(), 2u);
  EXPECT_EQ(model.parameters()[0].name, "c.weight");
  EXPECT_EQ(model.parameters()[0].shape, (Shape{4, 3, 3}));
  EXPECT_EQ(model.parameters()[1].shape, (Shape{6}));
  const Value again = model.conv_transpose1d(x, model.parameter("c.weight"),
                                             model.parameter("c.bias"), {.groups = 2});
  EXPECT_EQ(model.shape(again), (Shape{1, 6, 7}));
}

TEST(ModelConvTranspose1d, RefusesWhatItCannotDo) {
  Model model;
  const Value x = model.input("x", {4, 5}), image = model.input("image", {4, 5, 5});
  expect_refusals(
      Errc::shape_mismatch,
      {{"conv_transpose1d \"c\": expected x of rank 3, got [1,4,5,5]; reshape() gives it another "
        "rank",
        [&] { model.conv_transpose1d("c", image, {.out_channels = 2, .kernel = 2}); }},
       {"conv_transpose1d \"c\": expected a number of out_channels that divides into 2 groups, got "
        "3",
        [&] { model.conv_transpose1d("c", x, {.out_channels = 3, .kernel = 2, .groups = 2}); }},
       {"conv_transpose1d \"c\": conv_transpose2d \"c/product\": expected an output padding from 0 "
        "to less than the "
        "stride, which is 1, got 1",
        [&] {
          model.conv_transpose1d("c", x, {.out_channels = 2, .kernel = 2, .output_padding = 1});
        }}});
  EXPECT_TRUE(ops_of(model).empty());
  EXPECT_TRUE(model.parameters().empty());
}

TEST(ModelPools3d, RefuseImagesAndWindowsThatDoNotFit) {
  Model model;
  const Value x = model.input("x", {2, 3, 4, 5}), image = model.input("image", {4, 5, 5});
  expect_refusals(
      Errc::shape_mismatch,
      {{"max_pool3d: expected x of rank 5, got [1,4,5,5]; reshape() gives it another rank",
        [&] { model.max_pool3d(image); }},
       {"avg_pool3d: expected x of rank 5, got [1,4,5,5]; reshape() gives it another rank",
        [&] { model.avg_pool3d(image); }},
       {"adaptive_max_pool1d: expected x of rank 3, got [1,4,5,5]; reshape() gives it another rank",
        [&] { model.adaptive_max_pool1d(image, 2); }},
       {"adaptive_avg_pool3d: expected x of rank 5, got [1,4,5,5]; reshape() gives it another rank",
        [&] { model.adaptive_avg_pool3d(image, 2); }}});
  EXPECT_NE(refusal(Errc::shape_mismatch,
                    [&] {
                      model.max_pool3d(x, {.kernel = {4, 1, 1}});
                    }),
            "accepted");
  expect_refusals(
      Errc::invalid_argument,
      {{"adaptive_avg_pool3d: expected at least one window along each axis, got 0",
        [&] {
          model.adaptive_avg_pool3d(x, {2, 0, 2});
        }},
       {"adaptive_max_pool1d: expected at least one window along each axis, got -1", [&] {
          model.adaptive_max_pool1d(model.reshape(x, {2, 60}), -1);
        }}});
}

TEST(ModelPools3d, AdaptAtOnceWhereAllWindowsAreOfOneSize) {
  Model model;
  const Value x = model.input("x", {2, 4, 6, 9});
  EXPECT_EQ(model.shape(model.adaptive_avg_pool3d(x, {2, 3, 3})), (Shape{1, 2, 2, 3, 3}));
  EXPECT_EQ(ops_of(model), (Ops{"reshape", "avg_pool2d", "reshape", "avg_pool2d", "reshape"}));
}

}  // namespace
}  // namespace penstock
