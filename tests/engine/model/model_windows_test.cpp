// These tests are about layers that slide windows over sequences and images, and that are made of
// several ops.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/inference_model.hpp"
#include "tests/engine/model/layer_case.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::ops_of;
using testing::refusal;
using testing::same_bits;
using testing::uniform;
using Layer = std::function<Value(Model&, const Value&)>;

/// Returns what `layer` computes from `x`, whose dimension 0 counts samples. The weights of all
/// models that this function makes are drawn alike.
Tensor computed(const Tensor& x, const Layer& layer) {
  Model model;
  const auto dims = x.shape().dims();
  const Value input =
      model.input("x", Shape(std::vector<std::int64_t>(dims.begin() + 1, dims.end())));
  model.output("y", layer(model, input));
  InferenceModel inference(model, {.batch_size = static_cast<int>(dims[0])});
  return inference.run({x}).output("y");
}

Tensor numbers(const Shape& shape) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.elements(); ++i) values.push_back(static_cast<float>(i));
  return {shape, values};
}

TEST(ModelConv1d, ComputesWhatConv2dDoesToAnImageOfOneRow) {
  const Tensor x = uniform({2, 4, 11}, 1);
  const Tensor y = computed(x, [](Model& model, const Value& in) {
    return model.conv1d("c", in,
                        {.out_channels = 6, .kernel = 3, .stride = 2, .padding = 1, .groups = 2});
  });
  const Tensor image = computed(x.reshaped({2, 4, 1, 11}), [](Model& model, const Value& in) {
    return model.conv2d(
        "c", in,
        {.out_channels = 6, .kernel = {1, 3}, .stride = {1, 2}, .padding = {0, 1}, .groups = 2});
  });
  EXPECT_EQ(y.shape(), (Shape{2, 6, 6}));
  EXPECT_TRUE(same_bits(y, image.reshaped(y.shape())));
}

TEST(ModelConv1d, HasTheParametersOfPyTorchsLayerAndSharesThem) {
  Model model;
  const Value x = model.input("x", {4, 11});
  model.conv1d("c", x, {.out_channels = 6, .kernel = 3, .groups = 2});
  ASSERT_EQ(model.parameters().size(), 2u);
  EXPECT_EQ(model.parameters()[0].name, "c.weight");
  EXPECT_EQ(model.parameters()[0].shape, (Shape{6, 2, 3}));
  EXPECT_EQ(model.parameters()[1].shape, (Shape{6}));
  const Value again =
      model.conv1d(x, model.parameter("c.weight"), model.parameter("c.bias"), {.groups = 2});
  EXPECT_EQ(model.shape(again), (Shape{1, 6, 9}));
  EXPECT_EQ(model.parameters().size(), 2u);
}

TEST(ModelConv1d, RefusesImagesAndWhatItsWeightDecides) {
  Model model;
  const Value x = model.input("x", {4, 11}), image = model.input("image", {4, 5, 5});
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] { model.conv1d("c", image, {.out_channels = 6, .kernel = 3}); }),
            "conv1d \"c\": expected x of rank 3, got [1,4,5,5]; reshape() gives it another rank");
  EXPECT_NE(refusal(Errc::shape_mismatch,
                    [&] { model.conv1d("c", x, {.out_channels = 6, .kernel = 12}); }),
            "accepted");
  EXPECT_TRUE(ops_of(model).empty());
  EXPECT_TRUE(model.parameters().empty());
}

TEST(ModelConvTranspose2d, PutsAKernelForEachPixel) {
  Model model;
  const Value x = model.input("x", {1, 2, 2});
  model.output(
      "y", model.conv_transpose2d(
               "c", x, {.out_channels = 1, .kernel = 2, .stride = 2, .output_padding = {1, 0}}));
  ASSERT_EQ(model.parameters().size(), 2u);
  EXPECT_EQ(model.parameters()[0].shape, (Shape{1, 1, 2, 2}));
  EXPECT_EQ(model.parameters()[1].shape, (Shape{1}));
  model.set_weight("c.weight", Tensor({1, 1, 2, 2}, {1, 2, 3, 4}));
  model.set_weight("c.bias", Tensor({1}, {0.5f}));
  InferenceModel inference(model, {.batch_size = 1});
  const Tensor y = inference.run({Tensor({1, 1, 2, 2}, {1, 10, 100, 1000})}).output("y");
  EXPECT_TRUE(same_bits(
      y, Tensor({1, 1, 5, 4},
                {1.5f,    2.5f,    10.5f,  20.5f,  3.5f,    4.5f,    30.5f, 40.5f, 100.5f, 200.5f,
                 1000.5f, 2000.5f, 300.5f, 400.5f, 3000.5f, 4000.5f, 0.5f,  0.5f,  0.5f,   0.5f})));
}

TEST(ModelWindows, GiveTheirNameToTheLastNodeAndBeginABlockAtTheFirst) {
  Model model;
  const Value row = model.input("row", {4, 11}), image = model.input("image", {4, 3, 3});
  const Value y = model.conv1d("c", row, {.out_channels = 6, .kernel = 3});
  const Value z = model.conv_transpose2d("up", image, {.out_channels = 2, .kernel = 2});
  EXPECT_EQ(model.tensor_name(y), "c");
  EXPECT_EQ(model.tensor_name(z), "up");
  model.begin_block_at("c", "second");
  for (const graph::Node& node : ModelAccess::graph(model).nodes)
    EXPECT_EQ(ModelAccess::graph(model).blocks[static_cast<std::size_t>(node.block)].name, "second")
        << node.name;
}

TEST(ModelConvTranspose2d, RefusesWhatItCannotDo) {
  Model model;
  const Value x = model.input("x", {4, 3, 3});
  EXPECT_EQ(
      refusal(Errc::shape_mismatch,
              [&] {
                model.conv_transpose2d("c", x,
                                       {.out_channels = 2, .kernel = 2, .output_padding = 1});
              }),
      "conv_transpose2d \"c/product\": expected an output padding from 0 to less than the stride, "
      "which is 1, got 1");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      model.conv_transpose2d("c", x, {.out_channels = 3, .kernel = 2, .groups = 2});
                    }),
            "conv_transpose2d \"c\": expected a number of out_channels that divides into 2 groups, "
            "got 3");
  EXPECT_TRUE(ops_of(model).empty());
  EXPECT_TRUE(model.parameters().empty());
}

TEST(ModelPools, OfSequencesAreThoseOfImagesOfOneRow) {
  const Tensor x = uniform({2, 3, 10}, 2), image = x.reshaped({2, 3, 1, 10});
  const Tensor largest = computed(x, [](Model& model, const Value& in) {
    return model.max_pool1d(in, {.kernel = 3, .stride = 2, .padding = 1, .ceil_mode = true});
  });
  EXPECT_EQ(largest.shape(), (Shape{2, 3, 6}));
  EXPECT_TRUE(same_bits(
      largest, computed(image, [](Model& model, const Value& in) {
                 return model.max_pool2d(
                     in,
                     {.kernel = {1, 3}, .stride = {1, 2}, .padding = {0, 1}, .ceil_mode = true});
               }).reshaped({2, 3, 6})));
  const Tensor mean = computed(x, [](Model& model, const Value& in) {
    return model.avg_pool1d(in, {.kernel = 3, .padding = 1, .count_include_pad = false});
  });
  EXPECT_TRUE(
      same_bits(mean, computed(image, [](Model& model, const Value& in) {
                        return model.avg_pool2d(
                            in, {.kernel = {1, 3}, .padding = {0, 1}, .count_include_pad = false});
                      }).reshaped({2, 3, 4})));
}

TEST(ModelPools, AdaptToAnySize) {
  const Tensor x = numbers({1, 1, 5, 4});
  const Tensor mean = computed(x, [](Model& model, const Value& in) {
    return model.adaptive_avg_pool2d(in, {3, 2});
  });
  // The windows of rows are 0 to 1, 1 to 3 and 3 to 4.
  EXPECT_TRUE(same_bits(mean, Tensor({1, 1, 3, 2}, {2.5f, 4.5f, 8.5f, 10.5f, 14.5f, 16.5f})));
  const Tensor largest = computed(x, [](Model& model, const Value& in) {
    return model.adaptive_max_pool2d(in, {3, 2});
  });
  EXPECT_TRUE(same_bits(largest, Tensor({1, 1, 3, 2}, {5, 7, 13, 15, 17, 19})));
  Model model;
  const Value image = model.input("x", {2, 6, 4});
  model.adaptive_avg_pool2d(image, {3, 2});
  EXPECT_EQ(ops_of(model), (std::vector<std::string_view>{"avg_pool2d"}));
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      model.adaptive_avg_pool2d(model.slice(image, 1, 0, 0), {3, 2});
                    }),
            "adaptive_avg_pool2d: expected x with at least one element, got f32[1,0,6,4]");
  EXPECT_NE(refusal(Errc::invalid_argument,
                    [&] {
                      model.adaptive_max_pool2d(image, {0, 2});
                    }),
            "accepted");
}

TEST(ModelPools, ReduceTheAxisThatDividesEvenlyFirst) {
  for (const Size2d size : {Size2d{3, 2}, Size2d{2, 3}}) {
    Model model;
    const Value image = model.input("x", size.rows == 3 ? Shape{2, 5, 4} : Shape{2, 4, 5});
    model.adaptive_max_pool2d(image, size);
    EXPECT_EQ(ops_of(model),
              (std::vector<std::string_view>{"reshape", "amax", "slice", "amax", "slice", "amax",
                                             "slice", "amax", "concat"}));
  }
}

TEST(ModelPools, OfPowersAreRoots) {
  const Tensor y = computed(Tensor({1, 1, 2, 2}, {3, 4, 0, 12}), [](Model& model, const Value& in) {
    return model.lp_pool2d(in, 2, {.kernel = 2});
  });
  EXPECT_NEAR(y.item(), 13, 1e-5);
  Model model;
  const Value image = model.input("x", {2, 6, 4});
  EXPECT_EQ(
      refusal(Errc::invalid_argument, [&] { model.lp_pool2d(image, 0); }),
      "lp_pool2d: expected a norm from 1.1754943508222875e-38 to 8.507059173023462e+37, got 0");
}

TEST(ModelPixelShuffle, PutsChannelsBesideEachOtherAndBack) {
  const Tensor x = numbers({1, 4, 1, 2});
  const Tensor y =
      computed(x, [](Model& model, const Value& in) { return model.pixel_shuffle(in, 2); });
  EXPECT_TRUE(same_bits(y, Tensor({1, 1, 2, 4}, {0, 2, 1, 3, 4, 6, 5, 7})));
  EXPECT_TRUE(same_bits(
      x, computed(y, [](Model& model, const Value& in) { return model.pixel_unshuffle(in, 2); })));
}

TEST(ModelPixelShuffle, RefusesWhatDoesNotDivide) {
  Model model;
  const Value image = model.input("x", {6, 5, 4});
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.pixel_shuffle(image, 2); }),
            "pixel_shuffle: expected x with channels that divide by the square of the factor 2, "
            "got [1,6,5,4]");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.pixel_unshuffle(image, 2); }),
            "pixel_unshuffle: expected x with rows and columns that divide by the factor 2, got "
            "[1,6,5,4]");
  EXPECT_TRUE(ops_of(model).empty());
}

}  // namespace
}  // namespace penstock
