// These tests check that what inference computes of weights beforehand, such as weights that are
// packed for a kernel, is never that of older weights.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// Returns a network whose convolution reads packed weights.
Model network(std::uint64_t seed) {
  Model model("packed", seed);
  const Value x = model.input("x", {16, 8, 8});
  const Value y = model.conv2d("conv", x, {.out_channels = 32, .kernel = 3, .padding = 1});
  model.output("y", y);
  model.loss(model.identity_loss(model.square(y)));
  return model;
}

TEST(PreparedWeights, AreThoseOfTheNewestWeights) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "other.safetensors").string();
  network(5).save_weights(path);
  Model model = network(3);
  const Options options{.batch_size = 2};
  const Tensor x = uniform(Shape{2, 16, 8, 8}, 1);
  TrainingModel training(model, options, Sgd{.learning_rate = 0.1});
  InferenceModel serving(model, options);
  Tensor before = serving.run({x}).output("y");
  const std::function<void()> changes[] = {
      [&] { training.step({x}); },
      [&] {
        model.set_weight("conv.weight", uniform(Shape{32, 16, 3, 3}, 9));
      },
      [&] { model.load_weights(path); },
      [&] {
        serving.detach();
        training.step({x});
      }};
  for (const auto& change : changes) {
    change();
    const Tensor after = serving.run({x}).output("y");
    EXPECT_FALSE(same_bits(after, before));
    EXPECT_TRUE(same_bits(after, InferenceModel(model, options).run({x}).output("y")));
    before = after;
  }
}

}  // namespace
}  // namespace penstock::testing
