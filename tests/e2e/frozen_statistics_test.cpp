// These tests check what training does with norms whose statistics are frozen, and with values that
// stop gradients.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

/// Returns a network of two blocks that normalizes, whose first block is there to be frozen.
Model normalizing() {
  Model model("normalizing", 4);
  Value x = model.input("x", {3, 4, 4});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = model.conv2d("body.conv", x, {.out_channels = 4, .kernel = 3});
    x = model.relu(model.batch_norm2d("body.norm", x));
  }
  const auto block = model.block("B2");
  x = model.linear("head", model.flatten(x), 5);
  model.output("y", x);
  model.loss(model.cross_entropy(x, labels));
  model.set_weight("body.norm.running_mean", Tensor({4}, {0.1f, -0.2f, 0.3f, 0.f}));
  model.set_weight("body.norm.running_var", Tensor({4}, {0.5f, 2.f, 1.f, 0.1f}));
  return model;
}

std::vector<Tensor> images(std::int64_t count) {
  std::vector<float> pixels;
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count * 48; ++i)
    pixels.push_back(static_cast<float>((i * i + 7 * i) % 23) / 11.0f - 1);
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i * 3 % 5);
  return {Tensor({count, 3, 4, 4}, pixels), Tensor({count}, numbers)};
}

TEST(FrozenStatistics, AreUsedAsInInferenceAndStay) {
  for (const char* cut : {"B1,B2", "B1|B2"}) {
    Options options{.batch_size = 3};
    options.topology.stages = parse_stages(cut);
    options.training.gradient_accumulation = 2;
    options.output.mode = OutputMode::all;
    Model model = normalizing();
    model.freeze_statistics("body.*");
    TrainingModel training(model, options, Sgd{.learning_rate = 0.1});
    const Tensor expected =
        InferenceModel(normalizing(), options).run({images(6)[0].rows(0, 3)}).output("y");
    const StepResult result = training.step(images(6));
    EXPECT_TRUE(same_bits(result.output("y").rows(0, 3), expected)) << cut;
    for (const char* name : {"body.norm.running_mean", "body.norm.running_var"})
      EXPECT_TRUE(same_bits(model.weight(name), normalizing().weight(name))) << name;
    for (const char* name : {"body.norm.weight", "body.conv.weight", "head.weight"})
      EXPECT_FALSE(same_bits(model.weight(name), normalizing().weight(name))) << name;
    EXPECT_TRUE(same_bits(training.buffer("body.norm.running_mean", 0),
                          model.weight("body.norm.running_mean")));
  }
}

// The gradient of x is dx = dy·weight/√(var + eps). There is one value per channel, of which no
// statistics could be made.
TEST(FrozenStatistics, CountAsConstantsInTheGradient) {
  Model model("m");
  const Value x = model.parameter("x", {2, 1, 1}, Initializer::constant(0.5));
  const Value y = model.batch_norm2d("norm", model.add(model.input("data", {2, 1, 1}), x));
  model.loss(model.identity_loss(y, LossReduction::sum));
  model.set_weight("norm.running_var", Tensor({2}, {4.f, 0.25f}));
  model.set_weight("norm.weight", Tensor({2}, {3.f, 1.f}));
  model.freeze("norm.*");
  model.freeze_statistics("norm.running_mean");
  TrainingModel(model, {}, Sgd{.learning_rate = 1}).step({Tensor({1, 2, 1, 1}, {7.f, 9.f})});
  const Tensor moved = model.weight("x");
  EXPECT_NEAR(moved.as<float>()[0], 0.5 - 3 / 2.0, 1e-4);
  EXPECT_NEAR(moved.as<float>()[1], 0.5 - 1 / 0.5, 1e-4);
}

TEST(FrozenStatistics, OfAFrozenBodyLeaveItWithoutABackward) {
  Model model = normalizing();
  model.freeze("body.*");
  model.freeze_statistics("body.*");
  Options options{.batch_size = 3};
  TrainingModel training(model, options, Sgd{.learning_rate = 0.1});
  training.step(images(3));
  EXPECT_EQ(training.stage_reports()[0].backward_runs, 0u);
  EXPECT_EQ(training.stage_reports()[1].backward_runs, 1u);
}

TEST(StopGradient, PassesValuesOnAndNoGradientBack) {
  const auto build = [](bool stopped) {
    Model model("m", 2);
    const Value x = model.input("x", {3});
    Value h = model.linear("before", x, 3);
    if (stopped) h = model.stop_gradient(h);
    const Value y = model.linear("behind", h, 2);
    model.output("y", y);
    model.loss(model.identity_loss(y));
    return model;
  };
  const Model stopped = build(true), frozen = [&] {
    Model model = build(false);
    model.freeze("before.*");
    return model;
  }();
  const std::vector<Tensor> x{Tensor({1, 3}, {1.f, -2.f, 0.5f})};
  for (const Model& model : {stopped, frozen}) {
    TrainingModel(model, {}, Sgd{.learning_rate = 0.5}).step(x);
    EXPECT_TRUE(same_bits(model.weight("before.weight"), build(false).weight("before.weight")));
  }
  for (const ParameterInfo& parameter : stopped.parameters())
    EXPECT_TRUE(same_bits(stopped.weight(parameter.name), frozen.weight(parameter.name)))
        << parameter.name;
  EXPECT_TRUE(same_bits(InferenceModel(stopped, {}).run(x).output("y"),
                        InferenceModel(frozen, {}).run(x).output("y")));
}

}  // namespace
}  // namespace penstock::testing
