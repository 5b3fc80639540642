// These tests check what backward programs add to the gradient sums of a window.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "graph/compile/compile.hpp"
#include "tests/graph/compile/networks_to_compile.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/plan_runner.hpp"

namespace penstock::graph {
namespace {

using testing::expect_same;
using testing::Inputs;
using testing::ModelBuilder;
using testing::PlanRunner;
using testing::random_inputs;
using testing::small_network;
using testing::training;

/// Returns (f(p + step) - f(p - step)) / 2 step, where f is the loss of one micro-batch, and p is
/// element `element` of the variable called `name`.
double difference_quotient(PlanRunner& runner, const Inputs& inputs, const std::string& name,
                           std::size_t element, float step) {
  const Tensor before = runner.variable(name);
  const auto loss_at = [&](float shift) {
    std::vector<float> values(before.as<float>().begin(), before.as<float>().end());
    values[element] += shift;
    runner.set_variable(name, Tensor(before.shape(), std::span<const float>(values)));
    return static_cast<double>(runner.run(inputs)[0].back().item());
  };
  const double difference = loss_at(step) - loss_at(-step);
  runner.set_variable(name, before);
  return difference / (2 * static_cast<double>(step));
}

/// Returns a parameter's gradient, summed over its uses.
std::vector<float> gradient_of(const PlanRunner& runner, const std::string& name) {
  std::vector<float> sum(static_cast<std::size_t>(runner.variable(name).elements()));
  for (const Tensor& use : runner.gradients(name))
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += use.as<float>()[i];
  return sum;
}

void expect_slope(PlanRunner& runner, const Inputs& inputs, const std::string& name) {
  runner.run(inputs);
  const auto gradient = gradient_of(runner, name);
  float largest = 1e-3f;
  for (const float g : gradient) largest = std::max(largest, std::abs(g));
  for (std::size_t i = 0; i < gradient.size(); ++i)
    EXPECT_NEAR(difference_quotient(runner, inputs, name, i, 1e-2f), gradient[i], 0.02 * largest)
        << name << "[" << i << "]";
}

TEST(Compile, ComputesTheSlopeOfTheLossForEveryParameter) {
  ModelBuilder model;
  const auto x = model.input("x", {3}), target = model.input("target", {3});
  const auto tied = model.parameter("tied", {3, 3});
  const auto h = model.block("A").apply("tanh", {model.linear("fc1", x, 3)});
  const auto a = model.block("B").apply("sigmoid", {model.apply("linear", {h, tied})});
  const auto b = model.apply("mul", {model.apply("linear", {a, tied}), h});
  const auto y = model.block("C").apply("add", {model.apply("add", {b, h}), x});
  model.loss(model.apply("mse_loss", {y, target}));
  PlanRunner runner(compile(model.graph(), training()).plan);
  const Inputs inputs = random_inputs(runner.plan(), 1);
  for (const char* name : {"tied", "fc1.weight", "fc1.bias"}) expect_slope(runner, inputs, name);
  EXPECT_EQ(runner.gradients("tied").size(), 2u) << "one sum per use";
}

TEST(Compile, AddsGradientsOverMicroBatches) {
  const Plan plan = compile(small_network().graph(), training()).plan;
  PlanRunner runner(plan);
  const Inputs inputs = random_inputs(plan, 3);
  std::vector<float> expected(4);
  for (const auto& batch : inputs) {
    runner.run({batch});
    const Tensor sum = runner.gradients("fc2.bias")[0];
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += sum.as<float>()[i];
  }
  runner.run(inputs);
  expect_same(runner.gradients("fc2.bias"), {Tensor({4}, std::span<const float>(expected))});
}

}  // namespace
}  // namespace penstock::graph
