// These tests check activations and losses far from zero, where a careless formula loses its digits
// by cancellation. Each element is compared with the formula in double, relative to the element
// itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "tests/support/tape.hpp"

namespace penstock::graph {
namespace {

using Floats = std::vector<float>;
using testing::Tape;

/// Below this magnitude, results may be zero: f32 has few normal numbers that are smaller.
constexpr double smallest = 4e-37;

void expect_close(double actual, double exact, double error, const std::string& what) {
  EXPECT_NEAR(actual, exact, error * std::abs(exact) + smallest) << what;
}

Floats floats(const Tensor& tensor) {
  return {tensor.as<float>().begin(), tensor.as<float>().end()};
}

Tensor row(const Floats& values) {
  return {{std::ssize(values)}, std::span<const float>(values)};
}

/// Returns points of both signs, from 2^-40 to a little more than what exp overflows at.
Floats points() {
  Floats x;
  for (double size = 0x1p-40; size < 120; size *= 1.1)
    for (const double sign : {-1.0, 1.0}) x.push_back(static_cast<float>(sign * size));
  return x;
}

double logistic(double x) {
  return x > 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

struct Activation {
  const char* op;
  double (*exact)(double x);
  double error;
};

TEST(Tails, OfActivationsAreExactRelativeToThemselves) {
  const Activation activations[] = {
      {"sigmoid", logistic, 5e-7},
      {"silu", [](double x) { return x * logistic(x); }, 5e-7},
      {"tanh", [](double x) { return std::tanh(x); }, 5e-7},
      {"elu", [](double x) { return x > 0 ? x : std::expm1(x); }, 5e-7},
      {"softplus", softplus, 1e-6},
      {"logsigmoid", [](double x) { return -softplus(-x); }, 1e-6},
      {"mish", [](double x) { return x * std::tanh(softplus(x)); }, 1e-6},
      {"softsign", [](double x) { return x / (1 + std::abs(x)); }, 5e-7},
      // The argument of the exponential is rounded, and is 87 at most.
      {"gelu_tanh",
       [](double x) { return x * logistic(1.5957691216057308 * (x + 0.044715 * x * x * x)); },
       2e-5},
      // The error of exp(-x²/2) comes from the rounding of x²/2, which is 87 at most.
      {"gelu", [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }, 1e-5}};
  for (const Activation& activation : activations) {
    Tape tape;
    const ValueId y = tape.apply(find_op(activation.op), {tape.leaf(row(points()))})[0];
    for (std::size_t i = 0; i < points().size(); ++i) {
      const double x = points()[i];
      expect_close(tape[y].as<float>()[i], activation.exact(x), activation.error,
                   std::string(activation.op) + " of " + std::to_string(x));
    }
  }
}

/// A PairCase has a loss of pairs and its definition. `slope` is null if the gradient is not
/// checked.
struct PairCase {
  const char* op;
  std::function<double(double x, double t)> term, slope;
  Floats x, targets;
};

void expect_pairs(const PairCase& pair) {
  for (const float target : pair.targets) {
    Tape tape;
    const Floats t(pair.x.size(), target), ones(pair.x.size(), 1.0f);
    const ValueId x = tape.leaf(row(pair.x));
    const ValueId loss =
        tape.apply(find_op(pair.op), {x, tape.leaf(row(t))}, {{"reduction", "none"}})[0];
    tape.backward(loss, row(ones), {x});
    for (std::size_t i = 0; i < pair.x.size(); ++i) {
      const std::string at = std::string(pair.op) + " of " + std::to_string(pair.x[i]) +
                             " for the target " + std::to_string(target);
      expect_close(tape[loss].as<float>()[i], pair.term(pair.x[i], target), 1e-6, at);
      if (pair.slope)
        expect_close(tape.gradient(x).as<float>()[i], pair.slope(pair.x[i], target), 1e-6,
                     "slope of " + at);
    }
  }
}

TEST(Tails, OfBinaryCrossEntropyWithLogitsAreExactHoweverSureTheLogitsAre) {
  const auto slope = [](double x, double t) {
    return x > 0 ? 1 - t - logistic(-x) : logistic(x) - t;
  };
  expect_pairs({"binary_cross_entropy_with_logits",
                [](double x, double t) {
                  return std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x)));
                },
                slope,
                points(),
                {0, 1}});
  Tape tape;
  const ValueId x = tape.leaf(row({12, 15, 20, -12})), t = tape.leaf(row({1, 1, 1, 0}));
  const ValueId loss =
      tape.apply(find_op("binary_cross_entropy_with_logits"), {x, t}, {{"reduction", "none"}})[0];
  const Floats expected{6.1441935e-6f, 3.0590230e-7f, 2.0611537e-9f, 6.1441935e-6f};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_FLOAT_EQ(tape[loss].as<float>()[i], expected[i]);
}

TEST(Tails, OfMultilabelSoftMarginAreThoseOfItsLogits) {
  const Floats logits{12, -13, 30, -40, 16, 18}, target{1, 0, 1, 0, 1, 1};
  Tape tape;
  const ValueId x = tape.leaf(Tensor({2, 3}, std::span<const float>(logits)));
  const ValueId loss = tape.apply(find_op("multilabel_soft_margin_loss"),
                                  {x, tape.leaf(Tensor({2, 3}, std::span<const float>(target)))},
                                  {{"reduction", "none"}})[0];
  for (std::size_t sample = 0; sample < 2; ++sample) {
    double sum = 0;
    for (std::size_t i = 3 * sample; i < 3 * sample + 3; ++i)
      sum += softplus(static_cast<double>(target[i] == 1 ? -logits[i] : logits[i]));
    expect_close(tape[loss].as<float>()[sample], sum / 3, 1e-6, "sample");
  }
}

TEST(Tails, OfSoftMarginAreExact) {
  expect_pairs({"soft_margin_loss",
                [](double x, double t) { return softplus(-t * x); },
                [](double x, double t) { return -t * logistic(-t * x); },
                points(),
                {-1, 1}});
}

TEST(Tails, OfBinaryCrossEntropyAreExactForProbabilitiesNearBothEnds) {
  Floats x;
  for (double p = 0x1p-60; p < 0.6; p *= 1.3) {
    x.push_back(static_cast<float>(p));
    x.push_back(static_cast<float>(1 - p));
  }
  expect_pairs({"binary_cross_entropy",
                [](double p, double t) { return t == 1 ? -std::log(p) : -std::log1p(-p); },
                nullptr,
                {x.begin(), std::remove(x.begin(), x.end(), 1.0f)},
                {0, 1}});
}

TEST(Tails, OfExponentialsReachAsFarAsF32Does) {
  Floats x{88.3f, 88.5f, 88.7f, 88.722831f, -87.3f, -87.33f};
  for (float at = -87.3f; at < 88.72f; at += 0.37f) x.push_back(at);
  Tape tape;
  const ValueId rate = tape.leaf(row(x)), none_seen = tape.leaf(row(Floats(x.size(), 0)));
  const ValueId loss =
      tape.apply(find_op("poisson_nll_loss"), {rate, none_seen}, {{"reduction", "none"}})[0];
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(x[i]));
    EXPECT_NEAR(tape[loss].as<float>()[i], exact, 2e-7 * exact) << "exp of " << x[i];
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const ValueId outside = tape.leaf(row({88.722847f, infinity, -88.0f, -infinity}));
  const ValueId zeros = tape.leaf(row(Floats(4, 0.0f)));
  const ValueId limits = tape.apply(find_op("kl_div_loss"), {zeros, outside},
                                    {{"reduction", "none"}, {"log_target", std::int64_t{1}}})[0];
  EXPECT_EQ(tape[limits].as<float>()[0], infinity);
  EXPECT_EQ(tape[limits].as<float>()[1], infinity);
  EXPECT_EQ(tape[limits].as<float>()[2], 0);
}

/// Returns a line of scores. The score in the middle is 3, and all other scores are `margin` or
/// more below 0, so that with a large `margin` the class in the middle has nearly all probability.
Floats sure_line(std::size_t length, double margin) {
  Floats line;
  for (std::size_t i = 0; i < length; ++i)
    line.push_back(static_cast<float>(-margin - 0.01 * static_cast<double>(i)));
  line[length / 2] = 3;
  return line;
}

/// Returns log(softmax) of element `i`.
double log_probability(const Floats& line, std::size_t i) {
  double others = 0;
  for (std::size_t j = 0; j < line.size(); ++j)
    if (j != i) others += std::exp(static_cast<double>(line[j]) - line[i]);
  return -std::log1p(others);
}

/// Checks the loss, and its gradient, of one sample whose label is the class in the middle of
/// `line`. The scores of the classes are `pixels` elements apart.
void expect_sure(const Floats& line, std::int64_t pixels) {
  const auto classes = std::ssize(line);
  const std::size_t own = line.size() / 2;
  Floats scores;
  for (const float score : line)
    scores.insert(scores.end(), static_cast<std::size_t>(pixels), score);
  const Shape shape = pixels == 1 ? Shape{1, classes} : Shape{1, classes, pixels};
  const Shape label_shape = pixels == 1 ? Shape{1} : Shape{1, pixels};
  const std::vector<std::int64_t> labels(static_cast<std::size_t>(pixels), classes / 2);
  Tape tape;
  const ValueId x = tape.leaf(Tensor(shape, std::span<const float>(scores)));
  const auto loss =
      tape.apply(find_op("cross_entropy"), {x, tape.leaf(Tensor(label_shape, std::span(labels)))},
                 {{"reduction", "sum"}});
  tape.backward(loss[0], Tensor({}, {1.0f}));
  const std::string what = std::to_string(classes) + " classes, " + std::to_string(line[0]) + ", " +
                           std::to_string(pixels) + " pixels";
  const double exact = log_probability(line, own);
  expect_close(tape[loss[0]].item(), -static_cast<double>(pixels) * exact, 1e-6, "loss of " + what);
  const Floats gradient = floats(tape.gradient(x));
  const auto at = [&](std::size_t c) { return c * static_cast<std::size_t>(pixels); };
  expect_close(gradient[at(own)], std::expm1(exact), 2e-6, "gradient of the own class, " + what);
  expect_close(gradient[0], std::exp(log_probability(line, 0)), 1e-5,
               "gradient of another class, " + what);
}

TEST(Tails, OfCrossEntropyAreExactHoweverSureTheScoresAre) {
  for (const std::size_t length : {2, 10, 300})
    for (const double margin : {0.0, 1.0, 5.0, 9.0, 13.0, 20.0, 50.0, 80.0})
      for (const std::int64_t pixels : {1, 3, 70}) expect_sure(sure_line(length, margin), pixels);
}

TEST(Tails, OfLogSoftmaxCountElementsThatAreEquallyLarge) {
  for (const std::int64_t apart : {1, 5})
    for (const std::size_t equal : {2, 3, 40}) {
      Floats line(40, -30.0f);
      std::ranges::fill(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(equal), 2.0f);
      Floats scores;
      for (const float score : line)
        scores.insert(scores.end(), static_cast<std::size_t>(apart), score);
      Tape tape;
      const ValueId x = tape.leaf(Tensor({40, apart}, std::span<const float>(scores)));
      const ValueId y = tape.apply(find_op("log_softmax"), {x}, {{"axis", std::int64_t{0}}})[0];
      EXPECT_FLOAT_EQ(tape[y].as<float>()[0], -std::log(static_cast<float>(equal)));
    }
}

// There are two steps and one label. All paths except "blank, blank" spell the label, so that the
// loss is -log(1 - blank²).
TEST(Tails, OfCtcAreExactWhereManyPathsTogetherAreSure) {
  for (const double blank : {0.3, 1e-2, 1e-3}) {
    const auto sure = static_cast<float>(std::log1p(-blank)),
               rare = static_cast<float>(std::log(blank));
    const Floats steps{rare, sure, rare, sure};
    const std::vector<std::int64_t> label{1}, two{2}, one{1};
    Tape tape;
    const ValueId loss =
        tape.apply(find_op("ctc_loss"),
                   {tape.leaf(Tensor({1, 2, 2}, std::span<const float>(steps))),
                    tape.leaf(Tensor({1, 1}, std::span(label))),
                    tape.leaf(Tensor({1}, std::span(two))), tape.leaf(Tensor({1}, std::span(one)))},
                   {{"reduction", "sum"}})[0];
    expect_close(tape[loss].item(), -std::log1p(-blank * blank), 1e-3, std::to_string(blank));
  }
}

}  // namespace
}  // namespace penstock::graph
