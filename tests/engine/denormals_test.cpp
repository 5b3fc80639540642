// These tests check what calls of models make of numbers below f32's smallest normal one.
#include <gtest/gtest.h>

#include <limits>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"

namespace penstock {
namespace {

constexpr float smallest = std::numeric_limits<float>::min();

TEST(Denormals, CountAsZeroAsOperandsAndAsResults) {
  Model model("tiny");
  const Value x = model.input("x", {2});
  model.output("half", model.scale(x, 0.5));
  model.output("large", model.scale(x, 1e20));
  InferenceModel inference(model, {});
  const StepResult result = inference.run({Tensor({1, 2}, {smallest, smallest / 2})});
  const auto half = result.output("half").as<float>(), large = result.output("large").as<float>();
  EXPECT_EQ(half[0], 0);
  EXPECT_EQ(half[1], 0);
  EXPECT_FLOAT_EQ(large[0], smallest * 1e20f);
  EXPECT_EQ(large[1], 0);
}

TEST(Denormals, KeepTheirBitsWhereTheyAreOnlyMoved) {
  Model model("moved");
  model.output("y", model.reshape(model.input("x", {2}), {2, 1}));
  InferenceModel inference(model, {});
  const StepResult result = inference.run({Tensor({1, 2}, {smallest / 2, -smallest / 4})});
  const Tensor& y = result.output("y");
  EXPECT_EQ(y.as<float>()[0], smallest / 2);
  EXPECT_EQ(y.as<float>()[1], -smallest / 4);
}

TEST(Denormals, OfWeightsAreZeroAfterAnUpdate) {
  Model model("weights");
  const Value x = model.input("x", {1});
  model.loss(model.identity_loss(model.linear("fc", x, 1, false)));
  model.set_weight("fc.weight", Tensor({1, 1}, {smallest / 2}));
  TrainingModel training(model, {}, Sgd{.learning_rate = 0.1});
  training.step({Tensor({1, 1}, {0.0f})});
  EXPECT_EQ(model.weight("fc.weight").as<float>()[0], 0);
  EXPECT_EQ(smallest / 2 + smallest / 2, smallest) << "the host's arithmetic is as it was";
}

}  // namespace
}  // namespace penstock
