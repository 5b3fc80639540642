// These tests check what convolutions put around their input: the nodes that they add, and what
// they refuse. tests/e2e/pytorch_spatial_test.cpp compares what they compute with PyTorch.
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
using Names = std::vector<std::string>;

/// Returns the names of the model's nodes.
Names nodes_of(const Model& model) {
  Names names;
  for (const graph::Node& node : ModelAccess::graph(model).nodes) names.push_back(node.name);
  return names;
}

const graph::Node& node_of(const Model& model, std::string_view name) {
  for (const graph::Node& node : ModelAccess::graph(model).nodes)
    if (node.name == name) return node;
  throw std::out_of_range(std::string(name));
}

TEST(ModelPadding, OfOneSizeIsDoneByTheConvolutionIfBothSidesGetAsMuch) {
  Model model;
  const Value x = model.input("x", {4, 9, 8});
  const Value y = model.conv2d(
      "c", x, {.out_channels = 2, .kernel = {3, 5}, .dilation = {2, 1}, .same_padding = true});
  EXPECT_EQ(model.shape(y), (Shape{1, 2, 9, 8}));
  EXPECT_EQ(nodes_of(model), (Names{"c"}));
  EXPECT_EQ(node_of(model, "c").attributes.integer("padding"), 2);
}

TEST(ModelPadding, OfOneSizePutsTheOddElementAtTheEnd) {
  Model model;
  const Value x = model.input("x", {4, 9, 8});
  const Value y = model.conv2d("c", x, {.out_channels = 2, .kernel = {4, 3}, .same_padding = true});
  EXPECT_EQ(model.shape(y), (Shape{1, 2, 9, 8}));
  EXPECT_EQ(nodes_of(model), (Names{"c/pad_rows", "c"}));
  const graph::Attributes& rows = node_of(model, "c/pad_rows").attributes;
  EXPECT_EQ(rows.integer("axis"), 2);
  EXPECT_EQ(rows.integer("before"), 0);
  EXPECT_EQ(rows.integer("after"), 1);
  EXPECT_EQ(node_of(model, "c").attributes.integer("padding"), 1);
}

TEST(ModelPadding, ThatIsNoConstantIsPutAroundByNodesBeforeTheConvolution) {
  Model model;
  const Value x = model.input("x", {4, 5});
  model.conv1d("c", x,
               {.out_channels = 2, .kernel = 3, .padding = 2, .padding_mode = PadMode::reflect});
  EXPECT_EQ(nodes_of(model), (Names{"c/pad_columns", "c/image", "c/weight", "c/product", "c"}));
  EXPECT_EQ(node_of(model, "c/pad_columns").attributes.integers("indices"),
            (std::vector<std::int64_t>{2, 1, 0, 1, 2, 3, 4, 3, 2}));
  EXPECT_EQ(node_of(model, "c/product").attributes.integer("padding"), 0);
}

TEST(ModelPadding, WorksWithTheWeightOfAnotherLayer) {
  Model model;
  const Value x = model.input("x", {4, 9, 8}), row = model.input("row", {4, 9});
  model.conv2d("c", x, {.out_channels = 4, .kernel = {2, 4}});
  const Value y = model.conv2d(x, model.parameter("c.weight"), {}, {.same_padding = true});
  EXPECT_EQ(model.shape(y), (Shape{1, 4, 9, 8}));
  const Value weight = model.parameter("w", {3, 4, 6});
  EXPECT_EQ(model.shape(model.conv1d(row, weight, {},
                                     {.same_padding = true, .padding_mode = PadMode::replicate})),
            (Shape{1, 3, 9}));
}

TEST(ModelPadding, IsRefusedWhereItDoesNotFitAndLeavesNothingBehind) {
  Model model;
  const Value x = model.input("x", {4, 3, 8}), row = model.input("row", {4, 3});
  const std::vector<std::pair<const char*, Conv2dOptions>> cases{
      {"conv2d \"c\": expected stride 1, because same_padding is not supported for strided "
       "convolutions, got 2",
       {.out_channels = 1, .kernel = 3, .stride = {2, 1}, .same_padding = true}},
      {"conv2d \"c\": expected padding 0 beside same_padding, got 1",
       {.out_channels = 1, .kernel = 3, .padding = {0, 1}, .same_padding = true}},
      {"conv2d \"c\": expected up to 2 elements before and after axis 2 of x [1,4,3,14], got 3 "
       "and 3",
       {.out_channels = 1, .kernel = 3, .padding = 3, .padding_mode = PadMode::reflect}},
      {"conv2d \"c\": expected up to 3 elements before and after axis 2 of x [1,4,3,8], got 4 and "
       "4",
       {.out_channels = 1, .kernel = 3, .padding = {4, 0}, .padding_mode = PadMode::circular}},
      {"conv2d \"c\": expected padding from 0 to 1073741824, got -1",
       {.out_channels = 1, .kernel = 3, .padding = -1, .padding_mode = PadMode::replicate}},
      {"conv2d \"c\": expected padding of at least 0, got -1",
       {.out_channels = 1, .kernel = 3, .padding = -1}},
      {"conv2d \"c\": expected dilation of at least 1, got 0",
       {.out_channels = 1, .kernel = 3, .dilation = 0, .same_padding = true}}};
  for (const auto& [text, options] : cases)
    EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.conv2d("c", x, options); }), text);
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      model.conv1d(
                          "c", row,
                          {.out_channels = 1, .kernel = 2, .stride = 3, .same_padding = true});
                    }),
            "conv1d \"c\": expected stride 1, because same_padding is not supported for strided "
            "convolutions, got 3");
  EXPECT_TRUE(ops_of(model).empty());
  EXPECT_TRUE(model.parameters().empty());
}

}  // namespace
}  // namespace penstock
