// These tests compare what layers that are made of several ops compute with their formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock {
namespace {

using TwoInputs = std::function<Value(Model&, Value x, Value target)>;
using Numbers = std::vector<double>;

/// A TwoRows has two samples of four numbers, and targets from 0 to 1 for them.
struct TwoRows {
  Tensor x = testing::uniform({2, 4}, 1, -3, 3), target = testing::uniform({2, 4}, 2, 0.1, 0.9);

  double at(std::size_t i) const { return x.as<float>()[i]; }
  double target_at(std::size_t i) const { return target.as<float>()[i]; }
};

/// Returns what `layers` compute of `rows`.
Numbers outcome(const TwoRows& rows, const TwoInputs& layers) {
  Model model;
  const std::int64_t size = rows.x.shape()[1];
  const Value x = model.input("x", {size}), target = model.input("target", {size});
  model.output("y", layers(model, x, target));
  model.output("target again", model.relu(target));
  InferenceModel inference(model, {.batch_size = 2});
  const StepResult result = inference.run({rows.x, rows.target});
  const auto values = result.output("y").as<float>();
  return {values.begin(), values.end()};
}

void expect_numbers(const Numbers& actual, const Numbers& exact) {
  ASSERT_EQ(actual.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_NEAR(actual[i], exact[i], 2e-6 * std::max(1.0, std::abs(exact[i]))) << "element " << i;
}

/// Returns `formula(i)` for each element of the two rows.
Numbers of_each(const std::function<double(std::size_t)>& formula) {
  Numbers values;
  for (std::size_t i = 0; i < 8; ++i) values.push_back(formula(i));
  return values;
}

double sigmoid_of(double x) {
  return 1 / (1 + std::exp(-x));
}

constexpr float four_weights[] = {0.5f, 2.0f, 1.0f, 3.0f};

Value weights_of(Model& model) {
  return model.constant("weight", Tensor({4}, four_weights));
}

TEST(ComposedValues, OfActivations) {
  const TwoRows rows;
  expect_numbers(outcome(rows, [](Model& m, Value x, Value) { return m.tanhshrink(x); }),
                 of_each([&](std::size_t i) { return rows.at(i) - std::tanh(rows.at(i)); }));
  expect_numbers(outcome(rows, [](Model& m, Value x, Value) { return m.glu(x); }),
                 {rows.at(0) * sigmoid_of(rows.at(2)), rows.at(1) * sigmoid_of(rows.at(3)),
                  rows.at(4) * sigmoid_of(rows.at(6)), rows.at(5) * sigmoid_of(rows.at(7))});
  expect_numbers(outcome(rows, [](Model& m, Value x, Value) { return m.softmin(x); }),
                 of_each([&](std::size_t i) {
                   double sum = 0;
                   for (std::size_t j = i / 4 * 4; j < i / 4 * 4 + 4; ++j)
                     sum += std::exp(-rows.at(j));
                   return std::exp(-rows.at(i)) / sum;
                 }));
}

TEST(ComposedValues, OfComparisons) {
  using Compare = std::function<bool(double, double)>;
  const std::vector<std::tuple<TwoInputs, std::function<Value(Model&, Value, double)>, Compare>>
      comparisons{
          {[](Model& m, Value a, Value b) { return m.equal(a, b); },
           [](Model& m, Value a, double b) { return m.equal(a, b); }, std::equal_to<>()},
          {[](Model& m, Value a, Value b) { return m.not_equal(a, b); },
           [](Model& m, Value a, double b) { return m.not_equal(a, b); }, std::not_equal_to<>()},
          {[](Model& m, Value a, Value b) { return m.less(a, b); },
           [](Model& m, Value a, double b) { return m.less(a, b); }, std::less<>()},
          {[](Model& m, Value a, Value b) { return m.less_equal(a, b); },
           [](Model& m, Value a, double b) { return m.less_equal(a, b); }, std::less_equal<>()},
          {[](Model& m, Value a, Value b) { return m.greater(a, b); },
           [](Model& m, Value a, double b) { return m.greater(a, b); }, std::greater<>()},
          {[](Model& m, Value a, Value b) { return m.greater_equal(a, b); },
           [](Model& m, Value a, double b) { return m.greater_equal(a, b); },
           std::greater_equal<>()},
      };
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const float a[] = {0, 1, 2, nan, 1, 1, -1, 0}, b[] = {0, 0, 3, 1, 1, nan, 0.5f, -0.0f};
  const TwoRows rows{.x = Tensor({2, 4}, a), .target = Tensor({2, 4}, b)};
  for (const auto& [of_values, of_number, compare] : comparisons) {
    const auto expected = [&, holds = compare](const auto& other) {
      return of_each([&](std::size_t i) { return holds(rows.at(i), other(i)) ? 1 : 0; });
    };
    expect_numbers(outcome(rows, of_values), expected([&](std::size_t i) { return b[i]; }));
    expect_numbers(
        outcome(rows, [&, add = of_number](Model& m, Value x, Value) { return add(m, x, 1); }),
        expected([](std::size_t) { return 1; }));
  }
}

TEST(ComposedValues, OfPowers) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const float a[] = {2, 0, -2, -2, 1, 0.5f, 0, 9}, b[] = {3, 0, 3, 2, infinity, infinity, 2, -0.5f};
  const TwoRows rows{.x = Tensor({2, 4}, a), .target = Tensor({2, 4}, b)};
  const float bases[] = {0,         1,         infinity,  nan,       nan, -1,
                         -infinity, -infinity, -infinity, -infinity, -1,  2};
  const float exponents[] = {nan, nan, nan, 0, 1, infinity, 0.5f, -0.5f, 3, -3, 0.5f, -infinity};
  const TwoRows special{.x = Tensor({2, 6}, bases), .target = Tensor({2, 6}, exponents)};
  const Numbers found = outcome(special, [](Model& m, Value x, Value t) { return m.pow(x, t); });
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double exact = std::pow(special.at(i), special.target_at(i));
    EXPECT_TRUE(std::isnan(exact) ? std::isnan(found[i]) : found[i] == exact)
        << bases[i] << " to the power " << exponents[i] << ": " << found[i];
  }
  expect_numbers(outcome(rows, [](Model& m, Value x, Value t) { return m.pow(x, t); }),
                 of_each([&](std::size_t i) { return std::pow(rows.at(i), rows.target_at(i)); }));
}

TEST(ComposedValues, OfPoolingsByANormOfOne) {
  // Sums below zero stay what they are. A norm that is 1 as an f32 counts as 1.
  const TwoRows rows{.x = Tensor({2, 4}, {-1, -2, 4, -5, 3, -3.5f, 0, -0.25f})};
  for (const double norm : {1.0, 1 - 1e-9})
    expect_numbers(outcome(rows,
                           [norm](Model& m, Value x, Value) {
                             return m.flatten(
                                 m.lp_pool1d(m.unsqueeze(x, 1), norm, {.kernel = 2, .stride = 1}));
                           }),
                   {-3, 2, -1, -0.5, -3.5, -0.25});
}

TEST(ComposedValues, OfPoolingsByTheLargestNorm) {
  // Powers of numbers below 1 are 0 as f32, and roots of such a degree are 1 of all other sums.
  const TwoRows rows{.x = Tensor({2, 4}, {1, 0.5f, 0.25f, 0, 1, 1, 0, 0.75f})};
  expect_numbers(outcome(rows,
                         [](Model& m, Value x, Value) {
                           return m.flatten(m.lp_pool1d(m.unsqueeze(x, 1), std::pow(2.0, 126),
                                                        {.kernel = 2, .stride = 1}));
                         }),
                 {1, 0, 0, 1, 1, 0});
}

TEST(ComposedValues, OfAdaptivePoolingsThatDivideOneAxisEvenly) {
  // Two rows become one, and two columns become the first, both, and the second.
  const TwoRows rows{.x = Tensor({2, 4}, {1, 2, 3, 5, -4, 0, 2, 6})};
  const auto image = [](Model& m, Value x) { return m.reshape(x, {1, 2, 2}); };
  expect_numbers(outcome(rows,
                         [&](Model& m, Value x, Value) {
                           return m.flatten(m.adaptive_avg_pool2d(image(m, x), {1, 3}));
                         }),
                 {2, 2.75, 3.5, -1, 1, 3});
  expect_numbers(outcome(rows,
                         [&](Model& m, Value x, Value) {
                           return m.flatten(m.adaptive_max_pool2d(image(m, x), {1, 3}));
                         }),
                 {3, 5, 5, 2, 6, 6});
  expect_numbers(outcome(rows,
                         [&](Model& m, Value x, Value) {
                           return m.flatten(m.adaptive_avg_pool2d(image(m, x), {3, 1}));
                         }),
                 {1.5, 2.75, 4, -2, 1, 4});
}

/// Returns the gradient, with regard to a sample of `shape` that has these elements, of the sum of
/// what `layer` computes of the sample.
Numbers gradient_of(const std::vector<std::int64_t>& shape, const Tensor& elements,
                    const std::function<Value(Model&, Value)>& layer) {
  Model model;
  const std::int64_t size = elements.elements();
  const Value zeros = model.parameter("zeros", {size}, Initializer::constant(0));
  const Value x = model.input("x", {size}) + zeros;
  model.loss(model.identity_loss(layer(model, model.reshape(x, shape)), LossReduction::sum));
  TrainingModel training(model, {.batch_size = 1}, Sgd{.learning_rate = 1});
  training.step({elements});
  const Tensor moved = model.weight("zeros");
  Numbers gradient;
  for (const float element : moved.as<float>()) gradient.push_back(-element);
  return gradient;
}

Numbers gradient_of_equals(const std::vector<std::int64_t>& shape,
                           const std::function<Value(Model&, Value)>& layer) {
  return gradient_of(shape, testing::uniform({1, Shape(shape).elements()}, 1, 1, 1), layer);
}

TEST(ComposedValues, OfAdaptiveMaximaWhoseWindowsOverlapShareTheGradientOfEquals) {
  const auto of_image = [](Size2d size) {
    return gradient_of_equals({1, 2, 2},
                              [size](Model& m, Value x) { return m.adaptive_max_pool2d(x, size); });
  };
  // Along an axis of two elements, the three windows are the first one, both, and the second one.
  EXPECT_EQ(of_image({1, 3}), (Numbers{0.75, 0.75, 0.75, 0.75}));
  EXPECT_EQ(of_image({3, 1}), (Numbers{0.75, 0.75, 0.75, 0.75}));
  EXPECT_EQ(of_image({2, 1}), (Numbers{1, 0, 1, 0}));
  // Each slice is one window; along the depth, the three windows of two slices overlap.
  EXPECT_EQ(gradient_of_equals({1, 2, 2, 2},
                               [](Model& m, Value x) {
                                 return m.adaptive_max_pool3d(x, {3, 1, 1});
                               }),
            (Numbers{1.5, 0, 0, 0, 1.5, 0, 0, 0}));
}

// The first slice is 1 over 0, and the second one is 1 over 1. The larger of the two slices is the
// first one in row 0, for both are equal there, and the second one in row 1. Rows that were pooled
// before the depth would leave the middle window of the three to the first slice.
TEST(ComposedValues, OfAdaptivePoolingsOfVolumesBeginWithADepthThatAloneDividesEvenly) {
  EXPECT_EQ(gradient_of({1, 2, 2, 1}, Tensor({1, 4}, {1, 0, 1, 1}),
                        [](Model& m, Value x) {
                          return m.adaptive_max_pool3d(x, {1, 3, 1});
                        }),
            (Numbers{1.5, 0, 0, 1.5}));
}

TEST(ComposedValues, OfAFocalLoss) {
  const TwoRows rows;
  // The label of a row is the place of its largest target.
  const auto focal = [](Model& m, Value x, Value target) {
    const Value ce = m.cross_entropy(x, m.argmax(target, 1), {.reduction = LossReduction::none});
    return m.pow(1 - m.exp(-ce), 2) * ce;
  };
  Numbers exact;
  for (std::size_t row = 0; row < 2; ++row) {
    double sum = 0;
    std::size_t label = 4 * row;
    for (std::size_t i = 4 * row; i < 4 * row + 4; ++i) {
      sum += std::exp(rows.at(i));
      if (rows.target_at(i) > rows.target_at(label)) label = i;
    }
    const double p = std::exp(rows.at(label)) / sum;
    exact.push_back(-std::pow(1 - p, 2) * std::log(p));
  }
  expect_numbers(outcome(rows, focal), exact);
}

TEST(ComposedValues, OfWeightedBinaryCrossEntropies) {
  const TwoRows rows;
  const auto none = LossReduction::none;
  expect_numbers(outcome(rows,
                         [&](Model& m, Value x, Value t) {
                           return m.binary_cross_entropy(m.sigmoid(x), t, none, weights_of(m));
                         }),
                 of_each([&](std::size_t i) {
                   const double p = sigmoid_of(rows.at(i)), t = rows.target_at(i);
                   return -four_weights[i % 4] * (t * std::log(p) + (1 - t) * std::log(1 - p));
                 }));
  expect_numbers(outcome(rows,
                         [&](Model& m, Value x, Value t) {
                           const Value weight = weights_of(m);
                           return m.binary_cross_entropy_with_logits(x, t, none, weight, weight);
                         }),
                 of_each([&](std::size_t i) {
                   const double p = sigmoid_of(rows.at(i)), t = rows.target_at(i);
                   const double w = four_weights[i % 4];
                   return -w * (w * t * std::log(p) + (1 - t) * std::log(1 - p));
                 }));
}

TEST(ComposedValues, OfAGaussianLossWithOneVarianceForEachSample) {
  const TwoRows rows;
  expect_numbers(outcome(rows,
                         [](Model& m, Value x, Value t) {
                           const Value variance = m.slice(t, 1, 0, 1);
                           return m.gaussian_nll_loss(x, t, variance,
                                                      {.reduction = LossReduction::none});
                         }),
                 of_each([&](std::size_t i) {
                   const double v = rows.target_at(i / 4 * 4), d = rows.at(i) - rows.target_at(i);
                   return (std::log(v) + d * d / v) / 2;
                 }));
}

TEST(ComposedValues, OfNormsWithoutParameters) {
  const TwoRows rows;
  const auto mean_of = [&](std::size_t row, double power) {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += std::pow(rows.at(4 * row + i), power);
    return sum / 4;
  };
  expect_numbers(
      outcome(rows, [](Model& m, Value x, Value) { return m.rms_norm("n", x, 1, 0.1, false); }),
      of_each([&](std::size_t i) { return rows.at(i) / std::sqrt(mean_of(i / 4, 2) + 0.1); }));
  expect_numbers(outcome(rows, [](Model& m, Value x,
                                  Value) { return m.layer_norm("n", x, 1, 0.1, true, false); }),
                 of_each([&](std::size_t i) {
                   const double mean = mean_of(i / 4, 1);
                   return (rows.at(i) - mean) / std::sqrt(mean_of(i / 4, 2) - mean * mean + 0.1);
                 }));
}

TEST(ComposedValues, OfVariancesAndLargestMagnitudes) {
  const TwoRows rows;
  const auto squares_of = [&](std::size_t row) {
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < 4; ++i) mean += rows.at(4 * row + i) / 4;
    for (std::size_t i = 0; i < 4; ++i) squares += std::pow(rows.at(4 * row + i) - mean, 2);
    return squares;
  };
  expect_numbers(outcome(rows, [](Model& m, Value x, Value) { return m.var(x, {1}); }),
                 {squares_of(0) / 3, squares_of(1) / 3});
  expect_numbers(outcome(rows, [](Model& m, Value x, Value) { return m.var(x, {-1}, false); }),
                 {squares_of(0) / 4, squares_of(1) / 4});
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Numbers largest =
      outcome(rows, [](Model& m, Value x, Value) { return m.norm(x, {1}, infinity); });
  const Numbers all = of_each([&](std::size_t i) { return std::abs(rows.at(i)); });
  EXPECT_EQ(largest, (Numbers{*std::max_element(all.begin(), all.begin() + 4),
                              *std::max_element(all.begin() + 4, all.end())}));
  const Numbers largest_signed =
      outcome(rows, [](Model& m, Value x, Value) { return m.amax(x, {1}); });
  EXPECT_NE(largest, largest_signed) << "the numbers do not show that signs are dropped";
}

// Of two numbers, the deviations from their mean are the same but for the sign.
TEST(ComposedValues, OfABatchNormThatTracksNothingAreThoseOfTheMicroBatch) {
  const TwoRows rows;
  expect_numbers(outcome(rows,
                         [](Model& m, Value x, Value) {
                           return m.batch_norm1d(
                               "n", x, {.eps = 0.1, .affine = false, .track_running_stats = false});
                         }),
                 of_each([&](std::size_t i) {
                   const double half = (rows.at(i) - rows.at((i + 4) % 8)) / 2;
                   return half / std::sqrt(half * half + 0.1);
                 }));
}

TEST(ComposedValues, OfAWeightNormHaveTheLengthsOfG) {
  const TwoRows rows;
  Tensor v;
  const Numbers y = outcome(rows, [&](Model& m, Value x, Value) {
    const Value weight = m.weight_norm("fc", {3, 4});
    v = m.weight("fc.weight_v");
    m.set_weight("fc.weight_g", Tensor({3, 1}, {1.0f, 2.0f, 3.0f}));
    return m.linear(x, weight);
  });
  Numbers exact;
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t out = 0; out < 3; ++out) {
      double product = 0, square = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        const double element = v.as<float>()[4 * out + i];
        product += element * rows.at(4 * row + i);
        square += element * element;
      }
      exact.push_back(static_cast<double>(out + 1) * product / std::sqrt(square));
    }
  expect_numbers(y, exact);
}

}  // namespace
}  // namespace penstock
