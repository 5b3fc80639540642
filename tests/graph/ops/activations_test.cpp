// These tests check activations of very large numbers and of NaN, which the generic tests of ops do
// not reach.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/ops/list.hpp"
#include "tests/support/op_call.hpp"

namespace penstock::graph {
namespace {

struct Far {
  std::string_view op;
  float at_minus_1000;
  float at_plus_1000;
};

TEST(Activations, ReachTheirLimits) {
  constexpr Far table[] = {
      {"sigmoid", 0, 1},           {"tanh", -1, 1},        {"gelu", 0, 1000},
      {"silu", 0, 1000},           {"relu", 0, 1000},      {"leaky_relu", -10, 1000},
      {"elu", -1, 1000},           {"softplus", 0, 1000},  {"logsigmoid", -1000, 0},
      {"mish", 0, 1000},           {"gelu_tanh", 0, 1000}, {"hardtanh", -1, 1},
      {"hardsigmoid", 0, 1},       {"hardswish", 0, 1000}, {"softshrink", -999.5, 999.5},
      {"hardshrink", -1000, 1000}, {"threshold", 0, 1000}};
  for (const Far& far : table) {
    SCOPED_TRACE(far.op);
    const Tensor y =
        testing::run({.op = &find_op(far.op), .inputs = {Tensor({2}, {-1000.0f, 1000.0f})}})[0];
    EXPECT_NEAR(y.as<float>()[0], far.at_minus_1000, 1e-30);
    EXPECT_EQ(y.as<float>()[1], far.at_plus_1000);
  }
}

TEST(Activations, HaveFiniteGradientsFarOut) {
  const Tensor x({2}, {-1000.0f, 1000.0f}), dy({2}, {1.0f, 1.0f});
  for (const std::string_view op :
       {"gelu_gradient", "silu_gradient", "mish_gradient", "gelu_tanh_gradient",
        "softplus_gradient", "elu_gradient", "hardswish_gradient"}) {
    const Tensor dx = testing::run({.op = &find_op(op), .inputs = {x, dy}})[0];
    EXPECT_NEAR(dx.as<float>()[0], 0, 1e-30) << op;
    EXPECT_EQ(dx.as<float>()[1], 1) << op;
  }
}

TEST(Activations, PassNaNOn) {
  const std::vector<float> nan(33, std::numeric_limits<float>::quiet_NaN());
  for (const std::string_view op :
       {"sigmoid", "tanh", "gelu", "silu", "relu", "leaky_relu", "elu", "softplus", "logsigmoid",
        "mish", "gelu_tanh", "softsign", "hardtanh", "hardsigmoid", "hardswish", "softshrink",
        "hardshrink", "threshold"}) {
    const Tensor y = testing::run(
        {.op = &find_op(op), .inputs = {Tensor({33}, std::span<const float>(nan))}})[0];
    for (const float value : y.as<float>()) EXPECT_TRUE(std::isnan(value)) << op;
  }
}

}  // namespace
}  // namespace penstock::graph
