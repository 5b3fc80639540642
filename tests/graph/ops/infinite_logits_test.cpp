// These tests check losses of logits that are infinite, NaN, or so large that exp overflows. The
// expected numbers are those of PyTorch 1.13, except where PyTorch's formulas divide infinities:
// here, binary_cross_entropy_with_logits of -inf is infinite for a target above 0, as PyTorch's
// multilabel_soft_margin_loss is, too, and the slope of soft_margin_loss goes to -target.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "tests/support/tape.hpp"

namespace penstock::graph {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float half = 0.69314718f;  // This is the loss of a logit that is 0.
using Floats = std::vector<float>;

const Floats logits{inf, -inf, nan, 0.0f, -0.0f, 88.0f, -88.0f, 1e30f, -1e30f};

/// An Expected has a target, and the loss and the slope of each of `logits` for that target.
struct Expected {
  float target;
  Floats losses, slopes;
};

const std::vector<Expected> of_probabilities{
    {0, {inf, nan, nan, half, half, 88, 0, 1e30f, 0}, {1, 0, nan, 0.5f, 0.5f, 1, 0, 1, 0}},
    {0.5f,
     {inf, inf, nan, half, half, 44, 44, 5e29f, 5e29f},
     {0.5f, -0.5f, nan, 0, 0, 0.5f, -0.5f, 0.5f, -0.5f}},
    {1, {nan, inf, nan, half, half, 0, 88, 0, 1e30f}, {0, -1, nan, -0.5f, -0.5f, 0, -1, 0, -1}}};
const std::vector<Expected> of_signs{
    {-1, {inf, 0, nan, half, half, 88, 0, 1e30f, 0}, {1, 0, nan, 0.5f, 0.5f, 1, 0, 1, 0}},
    {1, {0, inf, nan, half, half, 0, 88, 0, 1e30f}, {0, -1, nan, -0.5f, -0.5f, 0, -1, 0, -1}}};

void expect_same(float actual, float expected, const std::string& what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << what << " is " << actual;
  } else if (std::isinf(expected)) {
    EXPECT_EQ(actual, expected) << what;
  } else {
    EXPECT_NEAR(actual, expected, 1e-6f * std::abs(expected) + 1e-37f) << what;
  }
}

/// Checks `op` on 21 copies of `logits`, which fill whole vectors and a part of one. If `rows` is
/// true, each logit is a row of one class.
void expect_losses(const char* op, const Expected& expected, bool rows) {
  constexpr std::size_t repeats = 21;
  Floats x;
  for (std::size_t i = 0; i < repeats; ++i) x.insert(x.end(), logits.begin(), logits.end());
  const auto count = std::ssize(x);
  const Shape shape = rows ? Shape{count, 1} : Shape{count};
  const Floats targets(x.size(), expected.target), ones(x.size(), 1);
  testing::Tape tape;
  const ValueId scores = tape.leaf(Tensor(shape, std::span<const float>(x)));
  const ValueId loss =
      tape.apply(find_op(op), {scores, tape.leaf(Tensor(shape, std::span<const float>(targets)))},
                 {{"reduction", "none"}})[0];
  tape.backward(loss, Tensor({count}, std::span<const float>(ones)), {scores});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::string what =
        std::string(op) + " of " + std::to_string(x[i]) + " for " + std::to_string(expected.target);
    expect_same(tape[loss].as<float>()[i], expected.losses[i % logits.size()], what);
    expect_same(tape.gradient(scores).as<float>()[i], expected.slopes[i % logits.size()],
                "slope of " + what);
  }
}

TEST(InfiniteLogits, HaveTheLossesAndSlopesOfTheirLimitsOrStayNaN) {
  for (const Expected& expected : of_probabilities) {
    expect_losses("binary_cross_entropy_with_logits", expected, false);
    expect_losses("multilabel_soft_margin_loss", expected, true);
  }
  for (const Expected& expected : of_signs) expect_losses("soft_margin_loss", expected, false);
}

}  // namespace
}  // namespace penstock::graph
