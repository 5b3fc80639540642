// These tests check which elements of a convolution's gradients infinities and NaNs reach. In the
// gradient of the input, they reach the pixels that have met them, and no others, as in PyTorch
// 1.13: zeros that a kernel puts around its factors must not count. In the gradient of the weights,
// they reach the weights that have met them, and may leave NaN in weights for which they met the
// zeros of the padding.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "graph/ops/rules/window2d.hpp"
#include "tests/graph/ops/lanes/lanes_run.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/tape.hpp"

namespace penstock::graph {
namespace {

using testing::lanes_of;
using testing::outputs_of;
using testing::samples_of;
using List = std::vector<std::int64_t>;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Case {
  Shape x, weight;
  Attributes attributes = {};
};

void PrintTo(const Case& one, std::ostream* stream) {
  *stream << to_string(one.x) << " * " << to_string(one.weight);
}

/// Returns `tensor` with `value` as element number `at`.
Tensor with(const Tensor& tensor, std::size_t at, float value) {
  std::vector<float> numbers(tensor.as<float>().begin(), tensor.as<float>().end());
  numbers[at] = value;
  return {tensor.shape(), std::span<const float>(numbers)};
}

/// Calls `work(y, weight, x)` for each product of a convolution, with the positions of the three
/// elements that take part. The position of x is `padding` if the tap is outside of the image.
constexpr std::int64_t padding = -1;
void for_each_product(const Case& one, const Shape& y, const auto& work) {
  const Shape& x = one.x;
  const Window2d window = conv_window(one.attributes, {one.weight[2], one.weight[3]});
  const std::int64_t inputs = one.weight[1], outputs = y[1] / one.attributes.integer("groups", 1);
  for (std::int64_t i = 0; i < y.elements(); ++i)
    for (std::int64_t cell = 0; cell < inputs * window.cells(); ++cell) {
      const std::int64_t pixel = i % (y[2] * y[3]), o = i / (y[2] * y[3]) % y[1];
      const std::int64_t channel = o / outputs * inputs + cell / window.cells();
      const std::int64_t tap = cell % window.cells();
      const std::int64_t row = window.position(0, pixel / y[3], tap / window.kernel[1]);
      const std::int64_t column = window.position(1, pixel % y[3], tap % window.kernel[1]);
      const bool inside = row >= 0 && row < x[2] && column >= 0 && column < x[3];
      const std::int64_t plane = i / (y[1] * y[2] * y[3]) * x[1] + channel;
      work(i, o * inputs * window.cells() + cell,
           inside ? (plane * x[2] + row) * x[3] + column : padding);
    }
}

double element(const Tensor& tensor, std::int64_t at) {
  return tensor.as<float>()[static_cast<std::size_t>(at)];
}

/// Returns the gradient of the input of a convolution by `weight`, added up product by product from
/// the output's gradient `dy`.
std::vector<double> sent_back(const Case& one, const Tensor& weight, const Tensor& dy) {
  std::vector<double> dx(static_cast<std::size_t>(one.x.elements()));
  for_each_product(one, dy.shape(), [&](std::int64_t y, std::int64_t w, std::int64_t x) {
    if (x != padding) dx[static_cast<std::size_t>(x)] += element(dy, y) * element(weight, w);
  });
  return dx;
}

/// A WeightSums has the gradient of the weights of a convolution of `x`, added up product by
/// product from the output's gradient `dy`, and says for which weights an infinity or a NaN in `dy`
/// has met padding.
struct WeightSums {
  WeightSums(const Case& one, const Tensor& x, const Tensor& dy)
      : sums(static_cast<std::size_t>(one.weight.elements())), met_padding(sums.size()) {
    for_each_product(one, dy.shape(), [&](std::int64_t y, std::int64_t w, std::int64_t pixel) {
      const auto weight = static_cast<std::size_t>(w);
      if (pixel != padding)
        sums[weight] += element(dy, y) * element(x, pixel);
      else if (!std::isfinite(element(dy, y)))
        met_padding[weight] = true;
    });
  }

  std::vector<double> sums;
  std::vector<bool> met_padding;
};

bool is_same(double actual, double expected) {
  return std::isfinite(expected)
             ? std::abs(actual - expected) < 1e-4
             : actual == expected || (std::isnan(actual) && std::isnan(expected));
}

/// Fails unless `actual` has the expected elements. Where `may_be_nan` is true, NaN will do, too;
/// if `may_be_nan` is empty, it allows no NaN.
void expect_same(const Tensor& actual, const std::vector<double>& expected, const std::string& what,
                 const std::vector<bool>& may_be_nan = {}) {
  ASSERT_EQ(actual.elements(), std::ssize(expected)) << what;
  int wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double value = actual.as<float>()[i];
    const bool allowed = !may_be_nan.empty() && may_be_nan[i] && std::isnan(value);
    if (!allowed && !is_same(value, expected[i]) && ++wrong == 1)
      ADD_FAILURE() << what << ": element " << i << " is " << value << ", expected " << expected[i];
  }
  EXPECT_EQ(wrong, 0) << what;
}

/// Calls `check(weight, dy, what)` for each copy of `weight` or of `dy` in which one element, at
/// one of four places, is an infinity or a NaN. `what` names the value and its place.
void for_each_infinity(const Tensor& weight, const Tensor& dy, const auto& check) {
  for (const float value : {infinity, -infinity, not_a_number})
    for (const int part : {0, 1, 2, 3}) {
      const auto place = [&](const Tensor& of) {
        return static_cast<std::size_t>((of.elements() - 1) * part / 3);
      };
      const std::string text = std::to_string(value) + " at place " + std::to_string(part);
      check(with(weight, place(weight), value), dy, text + " of the weights");
      check(weight, with(dy, place(dy), value), text + " of the gradients");
    }
}

Attributes with_size(const Case& one) {
  Attributes attributes = one.attributes;
  attributes.set("input_size", List{one.x[2], one.x[3]});
  return attributes;
}

class ConvolutionInfinities : public ::testing::TestWithParam<Case> {
 protected:
  const Case& one_ = GetParam();
  const Tensor x_ = testing::uniform(one_.x, 1), weight_ = testing::uniform(one_.weight, 2);
  const Tensor y_ = outputs_of(find_op("conv2d"), {x_, weight_}, one_.attributes)[0];
  const Tensor dy_ = testing::uniform(y_.shape(), 3);
};

TEST_P(ConvolutionInfinities, GoBackToThePixelsThatMetThem) {
  for_each_infinity(weight_, dy_, [&](const Tensor& weight, const Tensor& dy, const auto& what) {
    expect_same(outputs_of(find_op("conv2d_input_gradient"), {dy, weight}, with_size(one_))[0],
                sent_back(one_, weight, dy), what);
  });
}

TEST_P(ConvolutionInfinities, ChangeNoBitOfOtherPixels) {
  const Tensor finite =
      outputs_of(find_op("conv2d_input_gradient"), {dy_, weight_}, with_size(one_))[0];
  for (const float value : {infinity, not_a_number}) {
    const Tensor weight = with(weight_, 0, value);
    const Tensor dx =
        outputs_of(find_op("conv2d_input_gradient"), {dy_, weight}, with_size(one_))[0];
    int others = 0, changed = 0;
    for (std::size_t i = 0; i < dx.as<float>().size(); ++i)
      if (static_cast<std::int64_t>(i) / (one_.x[2] * one_.x[3]) % one_.x[1] != 0) {
        ++others;  // A gradient that weight 0 sends back goes to channel 0 alone.
        changed += dx.as<float>()[i] == finite.as<float>()[i] ? 0 : 1;
      }
    EXPECT_GT(others, 0);
    EXPECT_EQ(changed, 0) << value;
  }
}

TEST_P(ConvolutionInfinities,
       StayWithinTheirChannelsAndAreRightAwayFromThePaddingInTheForwardPass) {
  const Window2d window = conv_window(one_.attributes, {one_.weight[2], one_.weight[3]});
  const Tensor weight = with(weight_, 0, infinity);
  const Tensor y = outputs_of(find_op("conv2d"), {x_, weight}, one_.attributes)[0];
  const Shape& shape = y.shape();
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const float value = y.as<float>()[static_cast<std::size_t>(i)];
    const float before = y_.as<float>()[static_cast<std::size_t>(i)];
    const std::int64_t row = window.position(0, i / shape[3] % shape[2], 0);
    const std::int64_t column = window.position(1, i % shape[3], 0);
    const std::int64_t sample = i / (shape[1] * shape[2] * shape[3]);
    if (i / (shape[2] * shape[3]) % shape[1] != 0) {
      EXPECT_EQ(value, before) << i;
    } else if (row >= 0 && column >= 0) {
      const std::int64_t pixel = (sample * one_.x[1] * one_.x[2] + row) * one_.x[3] + column;
      EXPECT_EQ(value, infinity * x_.as<float>()[static_cast<std::size_t>(pixel)]) << i;
    } else {
      EXPECT_TRUE(std::isnan(value) || value == before) << i << " is " << value;
    }
  }
}

/// Calls `check(dy, what)` with an infinity or a NaN as the gradient of one pixel, at a corner or
/// in the middle, and then of several pixels at once.
void for_each_infinite_gradient(const Tensor& dy, const auto& check) {
  for (const float value : {infinity, -infinity, not_a_number}) {
    Tensor several = dy;
    for (const int part : {0, 1, 2, 3, 4}) {
      const auto place = static_cast<std::size_t>((dy.elements() - 1) * part / 4);
      const std::string text = std::to_string(value) + " at place " + std::to_string(part);
      check(with(dy, place, value), text);
      several = with(several, place, part % 2 == 0 ? value : -value);
    }
    check(several, std::to_string(value) + " at several places");
  }
}

Attributes with_kernel(Attributes attributes, const Shape& weight) {
  attributes.set("kernel", List{weight[2], weight[3]});
  return attributes;
}

TEST_P(ConvolutionInfinities, GoBackToTheWeightsThatMetThemOrLeaveNaNWhereTheyMetPadding) {
  for_each_infinite_gradient(dy_, [&](const Tensor& dy, const std::string& what) {
    const WeightSums expected(one_, x_, dy);
    expect_same(outputs_of(find_op("conv2d_weight_gradient"), {x_, dy},
                           with_kernel(one_.attributes, one_.weight))[0],
                expected.sums, what, expected.met_padding);
  });
}

TEST_P(ConvolutionInfinities, ChangeNoBitOfTheWeightsOfOtherChannels) {
  const Attributes attributes = with_kernel(one_.attributes, one_.weight);
  const Op& op = find_op("conv2d_weight_gradient");
  const Tensor finite = outputs_of(op, {x_, dy_}, attributes)[0];
  // This is the number of weights of channel 0.
  const std::int64_t own = finite.elements() / one_.weight[0];
  for (const float value : {infinity, not_a_number}) {
    const Tensor dweight = outputs_of(op, {x_, with(dy_, 0, value)}, attributes)[0];
    int changed = 0;
    for (std::int64_t i = own; i < finite.elements(); ++i)
      changed += element(dweight, i) == element(finite, i) ? 0 : 1;
    EXPECT_EQ(changed, 0) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Geometries, ConvolutionInfinities,
    ::testing::Values(
        Case{{2, 3, 6, 7}, {4, 3, 3, 3}}, Case{{2, 3, 6, 7}, {4, 3, 3, 2}, {{"padding", 1}}},
        Case{{1, 4, 9, 8}, {6, 2, 3, 3}, {{"stride", 2}, {"groups", 2}, {"padding", 1}}},
        Case{{1, 2, 9, 9}, {3, 2, 3, 3}, {{"dilation", 2}, {"stride", List{1, 3}}}},
        Case{{1, 40, 5, 5}, {36, 40, 3, 3}, {{"padding", 1}}},
        Case{{3, 32, 2, 2}, {32, 32, 3, 3}, {{"padding", 1}}},
        Case{{2, 32, 4, 4}, {48, 32, 3, 3}, {{"padding", 1}, {"stride", 2}}},
        // A result channel has few weights and many pixels, which may be several bands.
        Case{{9, 6, 7, 7}, {6, 1, 3, 3}, {{"groups", 6}, {"padding", 1}}},
        Case{{3, 4, 28, 28}, {8, 1, 3, 3}, {{"groups", 4}, {"padding", 1}}},
        Case{{5, 3, 13, 12}, {3, 1, 4, 3}, {{"groups", 3}, {"stride", 2}, {"padding", 2}}},
        Case{{3, 29, 6, 6}, {29, 1, 3, 3}, {{"groups", 29}, {"padding", 1}}},
        Case{{2, 16, 7, 9}, {16, 1, 3, 3}, {{"groups", 16}, {"stride", 2}, {"padding", 2}}},
        Case{{2, 2, 30, 41}, {2, 1, 5, 3}, {{"groups", 2}, {"dilation", 2}, {"padding", 1}}}));

class PooledConvolutionInfinities : public ConvolutionInfinities {
 protected:
  /// Runs the convolution with lanes, pooling and ReLU, and keeps the winners, which say where the
  /// maxima were.
  PooledConvolutionInfinities() {
    const ValueId x = tape_.leaf(x_), weight = tape_.leaf(weight_), bias = tape_.leaf(bias_);
    convolved_ = tape_.apply(find_op("conv2d"), {x, weight, bias}, one_.attributes)[0];
    const ValueId pooled =
        tape_.apply(find_op("max_pool2d"), {convolved_}, {{"kernel", std::int64_t{2}}})[0];
    result_ = tape_.apply(find_op("relu"), {pooled})[0];
    winners_ = outputs_of(find_op("conv2d_pool_relu_lanes"), {lanes_of(x_), weight_, bias_},
                          lane_attributes())[1];
  }

  Attributes lane_attributes() const {
    Attributes attributes = one_.attributes;
    attributes.set("batch", one_.x[0]);
    return attributes;
  }

  // With this bias, most pixels are above zero.
  const Tensor bias_ = testing::uniform({one_.weight[0]}, 4, 1, 2);
  testing::Tape tape_;
  ValueId convolved_ = none, result_ = none;
  Tensor winners_;
};

TEST_P(PooledConvolutionInfinities, GoBackToThePixelsThatMetThem) {
  const Tensor dy = testing::uniform(tape_[result_].shape(), 5);
  for_each_infinity(weight_, dy, [&](const Tensor& weight, const Tensor& of, const auto& what) {
    testing::Tape tape = tape_;
    tape.backward(result_, of, {convolved_});
    Attributes attributes = lane_attributes();
    attributes.set("input_size", List{one_.x[2], one_.x[3]});
    const Tensor dx = outputs_of(find_op("conv2d_pool_relu_lanes_input_gradient"),
                                 {winners_, lanes_of(of), weight}, attributes)[0];
    expect_same(samples_of(dx, one_.x[0]), sent_back(one_, weight, tape.gradient(convolved_)),
                what);
  });
}

TEST_P(PooledConvolutionInfinities, GoBackToTheWeightsThatMetThemOrLeaveNaNWhereTheyMetPadding) {
  const Tensor dy = testing::uniform(tape_[result_].shape(), 5);
  for_each_infinite_gradient(dy, [&](const Tensor& of, const std::string& what) {
    testing::Tape tape = tape_;
    tape.backward(result_, of, {convolved_});
    const Tensor convolved = tape.gradient(convolved_);
    const WeightSums expected(one_, x_, convolved);
    const Attributes attributes = with_kernel(lane_attributes(), one_.weight);
    expect_same(outputs_of(find_op("conv2d_lanes_weight_gradient"),
                           {lanes_of(x_), lanes_of(convolved)}, attributes)[0],
                expected.sums, what, expected.met_padding);
    expect_same(outputs_of(find_op("conv2d_pool_relu_lanes_weight_gradient"),
                           {lanes_of(x_), winners_, lanes_of(of)}, attributes)[0],
                expected.sums, what + ", fused", expected.met_padding);
  });
}

INSTANTIATE_TEST_SUITE_P(Geometries, PooledConvolutionInfinities,
                         ::testing::Values(Case{{20, 2, 8, 8}, {3, 2, 3, 3}},
                                           Case{{17, 1, 9, 7}, {4, 1, 5, 3}, {{"padding", 1}}},
                                           Case{{5, 3, 12, 12}, {2, 3, 7, 7}}));

}  // namespace
}  // namespace penstock::graph
