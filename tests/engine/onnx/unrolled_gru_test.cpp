#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/engine/onnx/imported_models.hpp"

namespace penstock::testing {
namespace {

constexpr std::size_t steps = 3, hidden = 2;

/// Returns a GRU over x [T,N,1] with two hidden features, whose reset gate comes before the
/// product.
OnnxBytes gru(const std::string& direction) {
  OnnxBytes bytes;
  bytes.input("x", {static_cast<std::int64_t>(steps), "batch", 1}).output("y").output("last");
  bytes.initializer("w", counted({1, 6, 1})).initializer("r", counted({1, 6, 2}, 0.3f));
  bytes.initializer("b", counted({1, 12}, 0.7f));
  bytes.node({"GRU",
              {"x", "w", "r", "b"},
              {"y", "last"},
              {{"hidden_size", std::int64_t{2}}, {"direction", direction}}});
  return bytes;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// Returns the last hidden state by the formulas of ONNX, whose gates are z, r and h.
std::vector<double> last_state(const std::vector<double>& x) {
  const Tensor of_w = counted({1, 6, 1}), of_r = counted({1, 6, 2}, 0.3f),
               of_b = counted({1, 12}, 0.7f);
  const auto w = of_w.as<float>(), r = of_r.as<float>(), b = of_b.as<float>();
  std::vector<double> h(hidden, 0);
  for (const double input : x) {
    const auto gate = [&](std::size_t row, const std::vector<double>& state) {
      return w[row] * input + b[row] + b[6 + row] + r[2 * row] * state[0] +
             r[2 * row + 1] * state[1];
    };
    std::vector<double> reset(hidden), next(hidden);
    for (std::size_t i = 0; i < hidden; ++i) reset[i] = sigmoid(gate(2 + i, h)) * h[i];
    for (std::size_t i = 0; i < hidden; ++i) {
      const double z = sigmoid(gate(i, h));
      next[i] = (1 - z) * std::tanh(gate(4 + i, reset)) + z * h[i];
    }
    h = next;
  }
  return h;
}

TEST(UnrolledGru, ComputesTheFormulasInBothDirections) {
  const Tensor x({1, 3, 1}, {0.5f, -1, 2});
  const auto last_of = [&](const std::string& direction) {
    return outputs(imported(gru(direction).file()), x, "last");
  };
  const std::vector<double> forward = last_state({0.5, -1, 2}), back = last_state({2, -1, 0.5});
  for (std::size_t i = 0; i < hidden; ++i) {
    EXPECT_NEAR(last_of("forward").as<float>()[i], forward[i], 1e-6);
    EXPECT_NEAR(last_of("reverse").as<float>()[i], back[i], 1e-6);
  }
}

TEST(UnrolledGru, ReturnsTheStatesOfAllStepsInTheirOrder) {
  const Tensor x({1, 3, 1}, {0.5f, -1, 2});
  const Tensor y = outputs(imported(gru("reverse").file()), x);
  const std::vector<double> back = last_state({2, -1, 0.5}), first = last_state({2});
  ASSERT_EQ(y.shape().elements(), static_cast<std::int64_t>(steps * hidden));
  for (std::size_t i = 0; i < hidden; ++i) {
    EXPECT_NEAR(y.as<float>()[i], back[i], 1e-6);
    EXPECT_NEAR(y.as<float>()[(steps - 1) * hidden + i], first[i], 1e-6);
  }
}

TEST(UnrolledGru, TrainsItsParameters) {
  Model model = imported(gru("forward").file());
  model.loss(model.identity_loss(model.mean(model.output("last"), {0, 1, 2})));
  TrainingModel training(model, {.batch_size = 2}, Sgd{.learning_rate = 1});
  training.step({counted({2, 3, 1})});
  EXPECT_NE(model.weight("r").as<float>()[0], counted({1, 6, 2}, 0.3f).as<float>()[0]);
  EXPECT_NE(model.weight("b").as<float>()[11], counted({1, 12}, 0.7f).as<float>()[11]);
}

TEST(UnrolledGru, IsRefusedOverTooManySteps) {
  OnnxBytes bytes;
  bytes.input("x", {600, "batch", 1}).output("y");
  bytes.initializer("w", counted({1, 6, 1})).initializer("r", counted({1, 6, 2}));
  bytes.node({"GRU", {"x", "w", "r"}, {"y"}, {{"hidden_size", std::int64_t{2}}}, "long"});
  EXPECT_EQ(refused(Errc::unsupported, bytes.file()),
            "this node cannot be imported: GRU (\"long\"): it has linear_before_reset = 0 over 600 "
            "steps, "
            "of which at most 512 are written out" +
                std::string(export_advice));
}

TEST(UnrolledGru, IsRefusedIfAllLayersTogetherHaveTooManySteps) {
  OnnxBytes bytes;
  bytes.input("x", {512, "batch", 1});
  bytes.initializer("w", counted({1, 6, 1})).initializer("r", counted({1, 6, 2}));
  for (int i = 0; i < 9; ++i) {
    const std::string name = "y" + std::to_string(i);
    bytes.output(name).node(
        {"GRU", {"x", "w", "r"}, {name}, {{"hidden_size", std::int64_t{2}}}, "gru_" + name});
  }
  EXPECT_EQ(refused(Errc::unsupported, bytes.file()),
            "this node cannot be imported: GRU (\"gru_y8\"): layers with linear_before_reset = 0 "
            "have more "
            "than 4096 steps together, and no more are written out" +
                std::string(export_advice));
}

}  // namespace
}  // namespace penstock::testing
