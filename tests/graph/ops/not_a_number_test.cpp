// A NaN does not vanish on its way through an op, so that nobody trains on without noticing. These
// tests check that the same results and gradients are NaN as in PyTorch 1.13.
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

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
using Floats = std::vector<float>;

struct Case {
  std::string op;
  Attributes attributes;
  /// These are the inputs. Only the gradient of the first one is checked.
  std::vector<Tensor> inputs;
  Floats results, gradient = {};  ///< These are expected if each result has the gradient 1.
};

void PrintTo(const Case& row, std::ostream* stream) {
  *stream << row.op;
}

void expect_same(const Tensor& actual, const Floats& expected, const std::string& what) {
  ASSERT_EQ(actual.elements(), std::ssize(expected)) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const float value = actual.as<float>()[i];
    EXPECT_EQ(std::isnan(value), std::isnan(expected[i])) << what << " " << i << " is " << value;
    if (std::isnan(expected[i]) || value == expected[i]) continue;
    EXPECT_NEAR(value, expected[i], 1e-6) << what << " " << i;
  }
}

class NotANumber : public ::testing::TestWithParam<Case> {};

TEST_P(NotANumber, IsWhatPyTorchMakesOfIt) {
  const Case& row = GetParam();
  testing::Tape tape;
  std::vector<ValueId> inputs;
  for (const Tensor& input : row.inputs) inputs.push_back(tape.leaf(input));
  const ValueId y = tape.apply(find_op(row.op), inputs, row.attributes)[0];
  const Floats ones(row.results.size(), 1);
  tape.backward(y, Tensor(tape[y].shape(), std::span<const float>(ones)), {inputs[0]});
  expect_same(tape[y], row.results, row.op);
  expect_same(tape.gradient(inputs[0]), row.gradient, row.op + ", gradient");
}

const Tensor x({3}, {nan, 1.0f, -1.0f}), zeros({3}, {0.0f, 0.0f, 0.0f}),
    ones({3}, {1.0f, 1.0f, 1.0f}), minus_ones({3}, {-1.0f, -1.0f, -1.0f});
const Tensor infinities({3}, {-infinity, infinity, 0.0f}), quarter({1}, {0.25f});
const Tensor bad_row({1, 3}, {nan, 1.0f, -1.0f}), zero_row({1, 3}, {0.0f, 0.0f, 0.0f}),
    one_row({1, 3}, {1.0f, 1.0f, 1.0f}), minus_one({1}, {-1.0f});
const Attributes each{{"reduction", "none"}};

Attributes with(const std::string& name, const AttributeValue& value) {
  Attributes attributes = each;
  attributes.set(name, value);
  return attributes;
}

INSTANTIATE_TEST_SUITE_P(
    Activations, NotANumber,
    ::testing::Values(
        Case{"relu", {}, {x}, {nan, 1, 0}, {1, 1, 0}},
        Case{"leaky_relu", {{"negative_slope", 0.1}}, {x}, {nan, 1, -0.1f}, {0.1f, 1, 0.1f}},
        Case{"gelu", {}, {x}, {nan, 0.8413447f, -0.1586553f}, {nan, 1.0833155f, -0.0833154f}},
        Case{"silu", {}, {x}, {nan, 0.7310586f, -0.2689414f}, {nan, 0.9276705f, 0.0723295f}},
        Case{"elu", {}, {x}, {nan, 1, -0.6321206f}, {nan, 1, 0.3678794f}},
        Case{"softplus", {}, {x}, {nan, 1.3132617f, 0.3132617f}, {nan, 0.7310586f, 0.2689414f}},
        Case{"logsigmoid", {}, {x}, {nan, -0.3132617f, -1.3132617f}, {nan, 0.2689414f, 0.7310586f}},
        Case{"softsign", {}, {x}, {nan, 0.5f, -0.5f}, {nan, 0.25f, 0.25f}},
        Case{"softsign", {}, {infinities}, {nan, nan, 0}, {nan, nan, 1}},
        Case{"mish", {}, {x}, {nan, 0.8650984f, -0.3034015f}, {nan, 1.0490362f, 0.0592167f}},
        Case{"mish", {}, {infinities}, {nan, infinity, 0}, {nan, nan, 0.6f}},
        Case{"gelu_tanh", {}, {x}, {nan, 0.8411920f, -0.1588080f}, {nan, 1.0829641f, -0.0829641f}},
        Case{"gelu_tanh", {}, {infinities}, {nan, infinity, 0}, {nan, nan, 0.5f}},
        Case{"hardtanh", {}, {x}, {nan, 1, -1}, {0, 0, 0}},
        Case{"hardsigmoid", {}, {x}, {nan, 2 / 3.0f, 1 / 3.0f}, {0, 1 / 6.0f, 1 / 6.0f}},
        Case{"hardswish", {}, {x}, {nan, 2 / 3.0f, -1 / 3.0f}, {nan, 5 / 6.0f, 1 / 6.0f}},
        Case{"hardshrink", {}, {x}, {nan, 1, -1}, {0, 1, 1}},
        Case{"threshold", {}, {x}, {nan, 1, 0}, {1, 1, 0}},
        Case{"prelu", {}, {x, quarter}, {nan, 1, -0.25f}, {0.25f, 1, 0.25f}},
        Case{"softmax", {{"axis", 0}}, {x}, {nan, nan, nan}, {nan, nan, nan}},
        Case{"log_softmax", {{"axis", 0}}, {x}, {nan, nan, nan}, {nan, nan, nan}},
        Case{"max_pool2d",
             {{"kernel", std::vector<std::int64_t>{1, 3}}},
             {Tensor({1, 1, 1, 3}, {nan, 1.0f, -1.0f})},
             {nan},
             {1, 0, 0}}));

INSTANTIATE_TEST_SUITE_P(
    Losses, NotANumber,
    ::testing::Values(
        Case{"l1_loss", each, {x, zeros}, {nan, 1, 1}, {0, 1, -1}},
        Case{"smooth_l1_loss", each, {x, zeros}, {nan, 0.5f, 0.5f}, {nan, 1, -1}},
        Case{"smooth_l1_loss", with("beta", 0.0), {x, zeros}, {nan, 1, 1}, {nan, 1, -1}},
        Case{"huber_loss", each, {x, zeros}, {nan, 0.5f, 0.5f}, {nan, 1, -1}},
        Case{"gaussian_nll_loss", each, {x, zeros, ones}, {nan, 0.5f, 0.5f}, {nan, 1, -1}},
        Case{"hinge_embedding_loss", each, {x, minus_ones}, {nan, 0, 2}, {0, -1, -1}},
        Case{"hinge_embedding_loss", each, {x, ones}, {nan, 1, -1}, {1, 1, 1}},
        Case{"soft_margin_loss",
             each,
             {x, ones},
             {nan, 0.3132617f, 1.3132616f},
             {nan, -0.2689414f, -0.7310586f}},
        Case{"binary_cross_entropy_with_logits",
             each,
             {x, ones},
             {nan, 0.3132617f, 1.3132616f},
             {nan, -0.2689414f, -0.7310586f}},
        Case{"margin_ranking_loss",
             with("margin", 0.5),
             {x, zeros, ones},
             {nan, 0, 1.5f},
             {0, 0, -1}},
        Case{"margin_ranking_loss",
             with("margin", 0.5),
             {ones, zeros, x},
             {nan, 0, 1.5f},
             {nan, 0, 1}},
        Case{"poisson_nll_loss",
             with("full", std::int64_t{1}),
             {x, ones},
             {nan, 1.7182817f, 1.3678794f},
             {nan, 1.7182817f, -0.6321206f}},
        Case{"poisson_nll_loss",
             with("full", std::int64_t{1}),
             {zeros, x},
             {nan, 1, 1},
             {nan, 0, 2}},
        Case{"kl_div_loss", each, {x, ones}, {nan, -1, 1}, {-1, -1, -1}},
        Case{"cosine_embedding_loss", each, {bad_row, one_row, minus_one}, {nan}, {nan, nan, nan}},
        Case{"triplet_margin_loss", each, {bad_row, one_row, zero_row}, {nan}, {nan, nan, nan}},
        Case{"triplet_margin_loss",
             with("p", std::int64_t{1}),
             {bad_row, one_row, zero_row},
             {nan},
             {0, 0, 0}}));

const Tensor infinite({3}, {std::numeric_limits<float>::infinity(), 1.0f, 2.0f});
const Tensor nothing({2}, {-std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity()});
const Attributes along{{"axes", std::vector<std::int64_t>{0}}};

INSTANTIATE_TEST_SUITE_P(
    Functions, NotANumber,
    ::testing::Values(
        Case{"prod", along, {x}, {nan}, {nan, nan, nan}},
        Case{"logsumexp", along, {x}, {nan}, {nan, nan, nan}},
        Case{"vector_norm", along, {x}, {nan}, {nan, nan, nan}},
        Case{"vector_norm", along, {zeros}, {0}, {0, 0, 0}},
        Case{"power", {}, {x, Tensor({3}, {0.0f, 2.0f, 2.0f})}, {1, 1, 1}, {0, 2, -2}},
        Case{"power", {}, {x, Tensor({3}, {2.0f, 0.0f, 0.5f})}, {nan, 1, nan}, {nan, 0, nan}},
        Case{"interpolate", {{"size", 3}}, {x}, {nan, 1, -1}, {1, 1, 1}},
        Case{"interpolate", {{"size", 3}}, {infinities}, {nan, nan, 0}, {1, 1, 1}},
        Case{"cumsum", {}, {x}, {nan, nan, nan}, {3, 2, 1}},
        Case{"sort", {}, {x}, {-1, 1, nan}, {1, 1, 1}},
        Case{"sort", {{"descending", 1}, {"count", 2}}, {x}, {nan, 1}, {1, 1, 0}}));

TEST(NotANumber, IsTheLargestAndTheSmallest) {
  for (const char* op : {"argmax", "argmin"}) {
    testing::Tape tape;
    const Tensor numbers({4}, {5.0f, nan, -5.0f, nan});
    const ValueId y = tape.apply(find_op(op), {tape.leaf(numbers)})[0];
    EXPECT_EQ(tape[y].as<std::int64_t>()[0], 1) << op;
  }
}

TEST(Infinities, GoThroughLogsumexpAsInPyTorch) {
  testing::Tape tape;
  const ValueId large = tape.apply(find_op("logsumexp"), {tape.leaf(infinite)}, along)[0];
  const ValueId small = tape.apply(find_op("logsumexp"), {tape.leaf(nothing)}, along)[0];
  EXPECT_EQ(tape[large].as<float>()[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(tape[small].as<float>()[0], -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace penstock::graph
