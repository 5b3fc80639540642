#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::numbers;
using testing::options;
using testing::refusal;
using testing::Scaling;

TEST(Predict, G5_ReturnsARowForEverySample) {
  Scaling scaling;
  InferenceModel inference(scaling.model, {.batch_size = 2, .device_iterations = 2});
  DataLoader data = numbers(7, 4, false);
  const std::vector<NamedTensor> outputs = predict(inference, data);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].name, "y");
  ASSERT_EQ(outputs[0].tensor.shape(), (Shape{7, 1}));
  for (std::size_t i = 0; i < 7; ++i)
    EXPECT_EQ(outputs[0].tensor.as<float>()[i], static_cast<float>(i));
}

TEST(Predict, TakesAnyNumberOfSamplesAtOnce) {
  Scaling scaling;
  InferenceModel inference(scaling.model, options());
  for (const std::int64_t samples : {1, 3, 4, 5, 8, 9}) {
    std::vector<float> x(static_cast<std::size_t>(samples));
    std::iota(x.begin(), x.end(), 0.0f);
    const Tensor y =
        predict(inference, {Tensor({samples, 1}, std::span<const float>(x))})[0].tensor;
    ASSERT_EQ(y.shape(), (Shape{samples, 1}));
    EXPECT_TRUE(std::equal(x.begin(), x.end(), y.as<float>().begin()));
  }
}

TEST(Predict, SaysWhatIsWrongWithItsInputsAndOutputs) {
  Scaling scaling;
  InferenceModel inference(scaling.model, {.batch_size = 2});
  EXPECT_THROW(predict(inference, std::vector<Tensor>{}), Error);
  EXPECT_THROW(predict(inference, {Tensor({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}), Error);
  InferenceModel last_only(
      scaling.model,
      {.batch_size = 2, .device_iterations = 2, .output = {.mode = OutputMode::final}});
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      predict(last_only, {Tensor({4, 1}, {1, 2, 3, 4})});
                    }),
            "predict: expected a row of output \"y\" for each of 4 samples, got [2,1]");
}

/// A Scored has a model of y = w·x with w = 1, and of the distance of y from a target. The target
/// is declared first.
struct Scored {
  Model model{"scored"};
  explicit Scored(LossReduction reduction) {
    const Value target = model.input("target", {1}), x = model.input("x", {1});
    const Value y = model.linear("fc", x, 1, false);
    const Value loss = model.mse_loss(y, target, reduction);
    model.loss(reduction == LossReduction::none ? model.identity_loss(loss) : loss);
    model.output("loss", loss);
    model.output("y", y);
    model.set_weight("fc.weight", Tensor({1, 1}, {1}));
  }
};

const Tensor three({3, 1}, {1, 2, 3});
const Tensor targets({3, 1}, {1, 4, 6});

std::vector<std::string> names_of(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& tensor : tensors) names.push_back(tensor.name);
  return names;
}

void expect_the_three(const std::vector<NamedTensor>& outputs) {
  ASSERT_EQ(names_of(outputs), std::vector<std::string>{"y"});
  ASSERT_EQ(outputs[0].tensor.shape(), (Shape{3, 1}));
  EXPECT_TRUE(std::ranges::equal(outputs[0].tensor.as<float>(), three.as<float>()));
}

TEST(Predict, AsksForNoTargetsOfAModelThatReturnsItsLoss) {
  for (const LossReduction reduction : {LossReduction::mean, LossReduction::none}) {
    Scored scored(reduction);
    InferenceModel inference(scored.model, {.batch_size = 2});
    expect_the_three(predict(inference, {three}));
    DataLoader data(tensor_dataset({three}), 3, {.mode = LoaderMode::sync});
    expect_the_three(predict(inference, data));
  }
}

TEST(Predict, LeavesOutALossThatHasNoRows) {
  Scored scored(LossReduction::mean);
  for (const int batch : {1, 2}) {
    InferenceModel inference(scored.model, {.batch_size = batch});
    expect_the_three(predict(inference, {targets, three}));
    DataLoader data(tensor_dataset({targets, three}), 3, {.mode = LoaderMode::sync});
    expect_the_three(predict(inference, data));
    EXPECT_EQ(value_of(evaluate(inference, data, {mean_of("loss")}).values, "loss"), 13.0 / 3);
  }
}

// The field "id" has the type of the target, and is none.
TEST(Predict, TakesNoOtherFieldForATargetThatIsMissing) {
  Scored scored(LossReduction::none);
  InferenceModel inference(scored.model, {.batch_size = 2});
  const Tensor ids({3, 1}, {7, 8, 9});
  const std::pair<std::vector<Tensor>, std::vector<std::string>> missing[] = {
      {{three, ids}, {"x", "id"}},
      {{ids, three}, {"id", "x"}},
      {{ids, ids, three}, {"id", "more", "x"}},
      {{three}, {"x"}}};
  for (const auto& [tensors, names] : missing) {
    DataLoader data(tensor_dataset(tensors, names), 3, {.mode = LoaderMode::sync});
    expect_the_three(predict(inference, data));
  }
  DataLoader data(tensor_dataset({ids, three, targets}, {"id", "x", "target"}), 3,
                  {.mode = LoaderMode::sync});
  const std::vector<NamedTensor> outputs = predict(inference, data);
  ASSERT_EQ(names_of(outputs), (std::vector<std::string>{"loss", "y"}));
  EXPECT_TRUE(std::ranges::equal(outputs[0].tensor.as<float>(), std::vector<float>{0, 4, 9}));
}

// The model asks for "target", because it returns a distance from it; its loss alone needs
// "weight".
TEST(Predict, TakesNoTargetOfTrainingForATargetThatIsMissing) {
  Model model("weighted");
  const Value target = model.input("target", {1}), x = model.input("x", {1});
  const Value y = model.linear("fc", x, 1, false);
  const Value distance = model.mse_loss(y, target, LossReduction::none);
  model.loss(model.identity_loss(model.mul(distance, model.input("weight", {1}))));
  model.output("loss", distance);
  model.output("y", y);
  model.set_weight("fc.weight", Tensor({1, 1}, {1}));
  InferenceModel inference(model, {.batch_size = 2});
  ASSERT_EQ(inference.inputs(), (std::vector<std::string>{"target", "x"}));
  DataLoader data(tensor_dataset({targets, three}, {"weight", "x"}), 3, {.mode = LoaderMode::sync});
  expect_the_three(predict(inference, data));
}

TEST(Predict, ReturnsALossForEverySampleWhereTheTargetsAreThere) {
  Scored scored(LossReduction::none);
  InferenceModel inference(scored.model, {.batch_size = 2});
  const std::vector<NamedTensor> outputs = predict(inference, {targets, three});
  ASSERT_EQ(names_of(outputs), (std::vector<std::string>{"loss", "y"}));
  EXPECT_TRUE(std::ranges::equal(outputs[0].tensor.as<float>(), std::vector<float>{0, 4, 9}));
}

}  // namespace
}  // namespace penstock
