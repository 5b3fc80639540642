// These tests check the losses' own functions of single elements, under every instruction set that
// the machine has.
#include "graph/kernels/losses/losses.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "graph/kernels/kernel_table.hpp"

namespace penstock::graph {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> logarithms(const LossKernels& kernels, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  kernels.clipped_logarithm(std::ssize(x), -infinity, infinity, x.data(), y.data());
  return y;
}

std::vector<float> softplus(const LossKernels& kernels, const std::vector<float>& x) {
  const std::vector<float> target(x.size());
  std::vector<float> y(x.size());
  kernels.binary_logits.terms(std::ssize(x), {}, x.data(), target.data(), y.data());
  return y;
}

class LossKernelsOf : public ::testing::TestWithParam<Isa> {};

TEST_P(LossKernelsOf, TakesLogarithmsToALittleMoreThanRounding) {
  std::vector<float> x;
  for (float at = 1e-37f; at < 1e38f; at *= 1.0037f) x.push_back(at);
  for (float at = 0.9f; at < 1.1f; at += 1e-4f) x.push_back(at);
  const std::vector<float> y = logarithms(kernel_table(GetParam()).losses, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::log(static_cast<double>(x[i]));
    ASSERT_NEAR(y[i], exact, 1.5e-7 * std::abs(exact) + 1e-14) << x[i];
  }
}

TEST_P(LossKernelsOf, TakesLogarithmsOfWhatIsNoUsualNumber) {
  const auto y = logarithms(kernel_table(GetParam()).losses, {0, 1, infinity, -1, nan, -infinity});
  EXPECT_EQ(y[0], -infinity);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], infinity);
  for (const std::size_t i : {3, 4, 5}) EXPECT_TRUE(std::isnan(y[i])) << i;
}

TEST_P(LossKernelsOf, KeepsSmallAndLargeSoftpluses) {
  std::vector<float> x;
  for (float at = -80; at < 80; at += 0.037f) x.push_back(at);
  const std::vector<float> y = softplus(kernel_table(GetParam()).losses, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::log1p(std::exp(static_cast<double>(x[i])));
    ASSERT_NEAR(y[i], exact, 4e-7 * exact) << x[i];
  }
}

INSTANTIATE_TEST_SUITE_P(EachIsa, LossKernelsOf, ::testing::ValuesIn(available_isas()),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace penstock::graph
