// These tests check that batch norms that add a tensor to their result and clamp it have the bits
// of the ops that they replace.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "graph/ops/activations/piecewise.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/norms/batch_norm.hpp"
#include "graph/ops/norms/batch_norm_gradients.hpp"
#include "graph/ops/norms/finish.hpp"
#include "graph/plan/sharing.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::OpCall;
using testing::run;
using testing::same_bits;
using testing::uniform;
using testing::with;
using Tensors = std::vector<Tensor>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Runs have one element, a few or many, fill one block of channels or several, and are those of so
/// many samples that the sums of a column are cut.
const Shape shapes[] = {{3, 1030}, {5, 70, 6, 6}, {2, 3, 20, 17}, {67, 5, 3, 3}, {2, 4, 2, 2, 16}};

/// A Clamp is an op that clamps, and its gradient.
struct Clamp {
  const Op* op;
  const Op* gradient;
  Attributes attributes = {};
};
const Clamp clamps[] = {{&relu, &relu_gradient},
                        {&hardtanh, &hardtanh_gradient, {{"low", 0.0}, {"high", 6.0}}},
                        {&hardtanh, &hardtanh_gradient, {{"low", -0.5}, {"high", 0.25}}}};

/// Returns the inputs of `norm` for x of the shape `shape`. The elements of x include zeros, a NaN
/// and an infinity.
Tensors norm_inputs(const Op& norm, const Shape& shape) {
  const Shape channels{shape[1]};
  Tensors inputs{with(uniform(shape, 1), {0, 0, nan, 0, infinity}), uniform(channels, 2),
                 with(uniform(channels, 3), {-0.0f})};
  if (&norm == &untracked_batch_norm) return inputs;
  inputs.push_back(uniform(channels, 4));
  inputs.push_back(uniform(channels, 5, 0.5, 2));
  if (&norm == &cumulative_batch_norm) inputs.push_back(uniform(channels, 6, 1, 3));
  return inputs;
}

/// Expects the results of `call`, also if it is computed in several parts or over its first input.
void expect_results(const OpCall& call, const Tensors& expected) {
  const std::int64_t units = units_of(call);
  const auto parts = static_cast<std::int32_t>(std::min<std::int64_t>(units, 3));
  testing::CallMemory divided{.parts = {}};
  for (std::int32_t part = 0; part < parts; ++part)
    divided.parts.push_back(piece_of({.units = units, .parts = parts}, part));
  std::vector<testing::CallMemory> memories{{}, divided};
  for (const Overwrite& overwrite : call.op->overwrites) {
    memories.push_back(divided);
    memories.back().in_place = overwrite;
  }
  for (const auto& memory : memories) {
    const Tensors results = run(call, memory);
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < results.size(); ++i)
      EXPECT_TRUE(same_bits(results[i], expected[i])) << call.op->name << ", output " << i;
  }
}

/// Returns the node of `call` that computes at once what the call and `readers` compute. Further
/// inputs of `readers` are in `others`.
OpCall at_once(const OpCall& call, const std::vector<Node>& readers, const Tensors& others) {
  Graph graph;
  Tensors tensors = call.inputs;
  tensors.insert(tensors.end(), others.begin(), others.end());
  for (const Tensor& tensor : tensors)
    graph.values.push_back({.type = {DType::f32, tensor.shape()}});
  Node node{.op = call.op, .attributes = call.attributes};
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    node.inputs.push_back(static_cast<ValueId>(i));
  node.outputs.resize(output_types(call).size());
  for (Node reader : readers) {
    const auto result = static_cast<ValueId>(graph.values.size());
    graph.values.push_back({.type = {DType::f32, call.inputs[0].shape()}});
    reader.inputs.insert(reader.inputs.begin(), result);
    reader.outputs = {result};
    node = joined_norm(graph, node, reader, 0).value();
  }
  OpCall joined{.op = node.op, .attributes = node.attributes};
  for (const ValueId input : node.inputs) joined.inputs.push_back(tensors[index(input)]);
  return joined;
}

class FinishedNorms : public ::testing::TestWithParam<const Op*> {
 protected:
  OpCall norm_of(const Shape& shape) const {
    return {
        .op = GetParam(), .attributes = {{"eps", 1e-3}}, .inputs = norm_inputs(*GetParam(), shape)};
  }
};

TEST_P(FinishedNorms, ClampAsTheOpsBehindThemDo) {
  for (const Shape& shape : shapes)
    for (const Clamp& clamp : clamps) {
      const OpCall norm = norm_of(shape);
      Tensors expected = run(norm);
      expected[0] =
          run({.op = clamp.op, .attributes = clamp.attributes, .inputs = {expected[0]}})[0];
      const Node reader{.op = clamp.op, .attributes = clamp.attributes};
      expect_results(at_once(norm, {reader}, {}), expected);
    }
}

TEST_P(FinishedNorms, AddAndClampAsTheOpsBehindThemDo) {
  for (const Shape& shape : shapes) {
    const OpCall norm = norm_of(shape);
    const auto addend_id = static_cast<ValueId>(norm.inputs.size());
    const Tensor addend = with(uniform(shape, 6), {-0.0f, nan, -infinity});
    Tensors expected = run(norm);
    expected[0] = run({.op = &add, .inputs = {expected[0], addend}})[0];
    const Node sum{.op = &add, .inputs = {addend_id}};
    expect_results(at_once(norm, {sum}, {addend}), expected);
    for (const Clamp& clamp : clamps) {
      const Node reader{.op = clamp.op, .attributes = clamp.attributes};
      Tensors clamped = expected;
      clamped[0] =
          run({.op = clamp.op, .attributes = clamp.attributes, .inputs = {expected[0]}})[0];
      expect_results(at_once(norm, {sum, reader}, {addend}), clamped);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Norms, FinishedNorms,
                         ::testing::Values(&batch_norm, &cumulative_batch_norm,
                                           &untracked_batch_norm),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(FinishedNormGradients, AreThoseOfTheClampAndOfTheNorm) {
  for (const Shape& shape : shapes)
    for (const Clamp& clamp : clamps) {
      const OpCall norm{.op = &batch_norm, .inputs = norm_inputs(batch_norm, shape)};
      const Tensors results = run(norm);
      const Tensor y =
          run({.op = clamp.op, .attributes = clamp.attributes, .inputs = {results[0]}})[0];
      const Tensor dy = with(uniform(shape, 7), {0, nan, infinity, 0, 0, 0});
      const Tensor before =
          run({.op = clamp.gradient, .attributes = clamp.attributes, .inputs = {y, dy}})[0];
      const auto gradients_of = [&](const Tensor& gradient) {
        return Tensors{gradient, norm.inputs[0], results[1], results[2], norm.inputs[1]};
      };
      OpCall clamped{.op = &clamped_batch_norm_gradients, .inputs = gradients_of(dy)};
      Node node{.op = &batch_norm};
      ASSERT_TRUE(join_clamp(node, {.op = clamp.op, .attributes = clamp.attributes}));
      clamped.attributes = node.attributes;
      clamped.inputs.push_back(norm.inputs[2]);
      expect_results(clamped, run({.op = &batch_norm_gradients, .inputs = gradients_of(before)}));
    }
}

}  // namespace
}  // namespace penstock::graph
