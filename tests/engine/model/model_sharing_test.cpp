// These tests give layers the parameters of other layers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/model/layer_case.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::refusal;
using testing::same_bits;

TEST(SharedLayers, ComputeWhatTheLayerOfTheWeightDoes) {
  Model model;
  const Value image = model.input("image", {4, 9, 8}), ids = model.input("ids", {3}, DType::i64);
  const Conv2dOptions options{.out_channels = 6, .kernel = {3, 2}, .stride = {1, 2}, .padding = 1};
  const Conv2dOptions shared{.stride = {1, 2}, .padding = 1};
  model.output("conv", model.conv2d("c", image, options));
  model.output("conv again",
               model.conv2d(image, model.parameter("c.weight"), model.parameter("c.bias"), shared));
  model.output("table", model.embedding("e", ids, 5, 4));
  model.output("table again", model.embedding(ids, model.parameter("e.weight")));
  const Value features = model.flatten(image);
  model.output("linear", model.linear("fc", features, 5));
  model.output("linear again",
               model.linear(features, model.parameter("fc.weight"), model.parameter("fc.bias")));
  EXPECT_EQ(model.parameters().size(), 5u);
  InferenceModel inference(model, {.batch_size = 2});
  const std::vector<std::int64_t> tokens{4, 0, 1, 1, 2, 3};
  const StepResult result =
      inference.run({testing::uniform({2, 4, 9, 8}, 1), Tensor({2, 3}, tokens)});
  for (const char* name : {"conv", "table", "linear"})
    EXPECT_TRUE(same_bits(result.output(name), result.output(std::string(name) + " again")))
        << name;
}

TEST(SharedLayers, OfASharedConvolutionRefuseWhatTheWeightDecides) {
  Model model;
  const Value image = model.input("image", {4, 9, 8});
  model.conv2d("c", image, {.out_channels = 6, .kernel = 3});
  const Value weight = model.parameter("c.weight");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] { model.conv2d(image, weight, {}, {.out_channels = 6}); }),
            "conv2d: expected options without out_channels, kernel and bias, because the "
            "convolution has the weight and the bias of another layer");
  EXPECT_EQ(model.shape(model.conv2d(image, weight)), (Shape{1, 6, 7, 6}));
}

TEST(SharedLayers, ConstantsAreSavedAndNotTrained) {
  Model model("m", 3);
  const Value x = model.input("x", {3});
  const std::vector<float> numbers{2, 3, 4};
  const Value scaled = x * model.constant("factor", Tensor({3}, numbers));
  model.output("scaled", scaled);
  model.loss(model.mse_loss(model.linear("fc", scaled, 3), x));
  EXPECT_FALSE(model.parameters().front().trainable);
  for (const int replicas : {1, 2}) {
    Options options{.batch_size = 2};
    options.topology.replication_factor = replicas;
    TrainingModel training(model, options);
    training.step({testing::uniform({2 * replicas, 3}, 1)});
    EXPECT_TRUE(same_bits(model.weight("factor"), Tensor({3}, numbers))) << replicas;
  }
  InferenceModel inference(model, {.batch_size = 1});
  const std::vector<float> ones{1, 1, 1};
  const Tensor result = inference.run({Tensor({1, 3}, ones)}).output("scaled");
  EXPECT_TRUE(same_bits(result, Tensor({1, 3}, numbers)));
}

TEST(SharedLayers, ConstantsRefuseWhatIsNoConstant) {
  Model model;
  const std::vector<std::int64_t> integers{1};
  EXPECT_EQ(refusal(Errc::unsupported, [&] { model.constant("c", Tensor({1}, integers)); }),
            "constant \"c\": expected a tensor of f32, got i64");
  EXPECT_EQ(
      refusal(Errc::shape_mismatch, [&] { model.constant("c", Tensor::zeros(DType::f32, {0})); }),
      "constant \"c\": expected a tensor with at least one element, got f32[0]");
  model.constant("c", Tensor::zeros(DType::f32, {2}));
  EXPECT_NE(
      refusal(Errc::invalid_model, [&] { model.constant("c", Tensor::zeros(DType::f32, {2})); }),
      "accepted");
  EXPECT_EQ(model.parameters().size(), 1u);
}

}  // namespace
}  // namespace penstock
