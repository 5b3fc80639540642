#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "penstock/inference_model.hpp"
#include "tests/engine/model/layer_case.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::ops_of;
using testing::refusal;

constexpr float a_numbers[] = {1.5f, -3.f, 0.1f}, b_numbers[] = {4.f, 7.f, -0.3f};

/// Returns what `expression` of a and b computes for a_numbers and b_numbers.
std::vector<float> computed(const std::function<Value(Value, Value)>& expression) {
  Model model;
  const Value a = model.input("a", {3}), b = model.input("b", {3});
  // Without this node, an expression of `a` alone would not take `b`.
  model.output("b again", model.relu(b));
  model.output("result", expression(a, b));
  InferenceModel inference(model, {.batch_size = 1});
  const StepResult result = inference.run({Tensor({1, 3}, a_numbers), Tensor({1, 3}, b_numbers)});
  const auto values = result.output("result").as<float>();
  return {values.begin(), values.end()};
}

/// Returns f(a, b) for each of the numbers.
std::vector<float> expected(const std::function<float(float, float)>& f) {
  std::vector<float> values;
  for (std::size_t i = 0; i < 3; ++i) values.push_back(f(a_numbers[i], b_numbers[i]));
  return values;
}

TEST(ValueOperators, ComputeWithTwoValues) {
  EXPECT_EQ(computed([](auto a, auto b) { return a + b; }),
            expected([](float a, float b) { return a + b; }));
  EXPECT_EQ(computed([](auto a, auto b) { return a - b; }),
            expected([](float a, float b) { return a - b; }));
  EXPECT_EQ(computed([](auto a, auto b) { return a * b; }),
            expected([](float a, float b) { return a * b; }));
  EXPECT_EQ(computed([](auto a, auto b) { return a / b; }),
            expected([](float a, float b) { return a / b; }));
  EXPECT_EQ(computed([](auto a, auto) { return -a; }), expected([](float a, float) { return -a; }));
}

TEST(ValueOperators, ComputeWithAValueAndANumber) {
  EXPECT_EQ(computed([](auto a, auto) { return a + 2.5; }),
            expected([](float a, float) { return a + 2.5f; }));
  EXPECT_EQ(computed([](auto a, auto) { return a - 2.5; }),
            expected([](float a, float) { return a - 2.5f; }));
  EXPECT_EQ(computed([](auto a, auto) { return a * 2.5; }),
            expected([](float a, float) { return a * 2.5f; }));
  EXPECT_EQ(computed([](auto a, auto) { return a / 3; }),
            expected([](float a, float) { return a / 3.f; }));
}

TEST(ValueOperators, ComputeWithANumberAndAValue) {
  EXPECT_EQ(computed([](auto a, auto) { return 2.5 + a; }),
            expected([](float a, float) { return 2.5f + a; }));
  EXPECT_EQ(computed([](auto a, auto) { return 2.5 - a; }),
            expected([](float a, float) { return 2.5f - a; }));
  EXPECT_EQ(computed([](auto a, auto) { return 2.5 * a; }),
            expected([](float a, float) { return 2.5f * a; }));
  EXPECT_EQ(computed([](auto a, auto) { return 3 / a; }),
            expected([](float a, float) { return 3.f / a; }));
}

TEST(ValueOperators, AddTheOpsOfTheModel) {
  Model model;
  const Value x = model.input("x", {3}), y = model.input("y", {3});
  const Value product = x * y, quotient = x / 2.0;
  static_cast<void>(product + quotient);
  EXPECT_EQ(ops_of(model), (std::vector<std::string_view>{"mul", "fill", "div", "add"}));
}

TEST(ValueOperators, RefuseValuesOfNoModelAndOfOthers) {
  Model model, other;
  const Value x = model.input("x", {3}), foreign = other.input("x", {3});
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { static_cast<void>(Value() + x); }),
            "add: expected a value of a model, got one of no model");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { static_cast<void>(x / foreign); }),
            "div: expected a value of model \"model\", got one of another model");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { static_cast<void>(2 * Value()); }),
            "mul: expected a value of a model, got one of no model");
  EXPECT_TRUE(ops_of(model).empty());
}

TEST(ValueOperators, RefuseShapesThatDoNotBroadcastAndLeaveNothingBehind) {
  Model model;
  const Value x = model.input("x", {3}), y = model.input("y", {4}), ids = model.labels();
  EXPECT_NE(refusal(Errc::shape_mismatch, [&] { static_cast<void>(x - y); }), "accepted");
  EXPECT_NE(refusal(Errc::shape_mismatch, [&] { static_cast<void>(1 - ids); }), "accepted");
  EXPECT_TRUE(ops_of(model).empty());
}

TEST(ValueOperators, RefuseAValueWhoseModelIsGone) {
  std::optional<Model> model(std::in_place);
  const Value x = model->input("x", {3});
  model.reset();
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { static_cast<void>(x + 1); }),
            "add: expected a value of a model, got one whose model is gone");
}

TEST(Values, KnowWhetherTheyAreOfAModel) {
  Model model;
  EXPECT_FALSE(Value());
  EXPECT_TRUE(model.input("x", {3}));
}

}  // namespace
}  // namespace penstock
