// These tests check that convolutions that finish their sums have the bits of the ops that they
// replace.
#include "graph/ops/convolution/conv2d_inference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/random.hpp"
#include "graph/kernels/depthwise/workspace.hpp"
#include "graph/kernels/products/direct.hpp"
#include "graph/ops/activations/piecewise.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/convolution/conv2d.hpp"
#include "graph/ops/convolution/products/geometry.hpp"
#include "graph/ops/norms/batch_norm_inference.hpp"
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

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// A Step is an op whose input number `position` is the result of the op before. That input is not
/// among the inputs of `call`.
struct Step {
  OpCall call;
  std::size_t position = 0;
};

/// A Chain is a convolution and the ops behind it.
struct Chain {
  OpCall convolution;
  std::vector<Step> steps = {};

  Tensor result() const {
    Tensor y = run(convolution)[0];
    for (const auto& [step, position] : steps) {
      OpCall call = step;
      call.inputs.insert(call.inputs.begin() + static_cast<std::ptrdiff_t>(position), y);
      y = run(call)[0];
    }
    return y;
  }

  /// Returns the call that computes the same at once.
  OpCall at_once() const {
    Graph graph;
    std::vector<Tensor> tensors;
    const auto node_of = [&](const OpCall& call) {
      Node node{.op = call.op, .attributes = call.attributes};
      for (const Tensor& input : call.inputs) {
        node.inputs.push_back(static_cast<ValueId>(tensors.size()));
        tensors.push_back(input);
        graph.values.push_back({.type = {DType::f32, input.shape()}});
      }
      return node;
    };
    const Shape result = output_types(convolution)[0].shape;
    Node node = node_of(convolution);
    for (const auto& [call, position] : steps) {
      Node reader = node_of(call);
      const auto value = static_cast<ValueId>(tensors.size());
      tensors.push_back({});
      graph.values.push_back({.type = {DType::f32, result}});
      reader.inputs.insert(reader.inputs.begin() + static_cast<std::ptrdiff_t>(position), value);
      node = joined_convolution(graph, node, reader, position).value();
    }
    OpCall call{.op = node.op, .attributes = node.attributes};
    for (const ValueId input : node.inputs) call.inputs.push_back(tensors[index(input)]);
    return call;
  }
};

/// Returns `call` with weights that are packed beforehand, if there is such a form.
std::optional<OpCall> with_packed_weights(const OpCall& call) {
  const std::vector<TensorType> types{{DType::f32, call.inputs[0].shape()},
                                      {DType::f32, call.inputs[1].shape()}};
  const auto form = call.op->packed_form(call.attributes, types);
  if (!form) return std::nullopt;
  OpCall packed{.op = form->op, .attributes = form->attributes, .inputs = call.inputs};
  packed.inputs[1] =
      run({.op = form->pack, .attributes = form->pack_attributes, .inputs = {call.inputs[1]}})[0];
  return packed;
}

/// Expects the same bits of `call`, also if it is computed in several parts.
void expect_result(const OpCall& call, const Tensor& expected) {
  ASSERT_EQ(call.op, &conv2d_inference);
  const std::int64_t units = units_of(call);
  for (const std::int64_t parts : {std::int64_t{1}, std::min<std::int64_t>(units, 3)}) {
    std::vector<Part> all;
    const Sharing sharing{.units = units, .parts = static_cast<std::int32_t>(parts)};
    for (std::int32_t part = 0; part < sharing.parts; ++part)
      all.push_back(piece_of(sharing, part));
    EXPECT_TRUE(same_bits(run(call, {.parts = all})[0], expected)) << parts << " parts";
  }
}

void expect_same_bits(const Chain& chain) {
  const Tensor expected = chain.result();
  const OpCall call = chain.at_once();
  expect_result(call, expected);
  if (const auto packed = with_packed_weights(call)) expect_result(*packed, expected);
}

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  /// Draws a number from `low` to `high`.
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    const auto limit = static_cast<std::uint32_t>(high - low + 1);
    return low + philox({.seed = seed_}, next_++)[0] % limit;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

/// Draws a convolution whose image has an infinity of each sign, a NaN and a -0.
OpCall drawn_convolution(Draws& draw) {
  const bool depthwise = draw(0, 2) == 0, wide = draw(0, 1) == 0;
  const std::int64_t groups = depthwise ? draw(2, 40) : draw(1, 2);
  const std::int64_t inputs = depthwise ? 1 : wide ? draw(16, 70) : draw(1, 20);
  const std::int64_t outputs = depthwise ? 1 : wide ? 16 * draw(1, 5) : draw(1, 40);
  const std::int64_t kernel = draw(0, 2) == 0 ? 1 : draw(1, 4), size = draw(kernel, 12);
  const Attributes attributes{{"stride", draw(0, 2) == 0 ? 2 : 1},
                              {"padding", draw(0, kernel / 2)},
                              {"dilation", size > 2 * kernel ? draw(1, 2) : 1},
                              {"groups", groups}};
  const Tensor x = uniform({draw(1, 20), groups * inputs, size, draw(kernel, 30)}, 1);
  OpCall call{.op = &conv2d, .attributes = attributes};
  if (attributes.integer("dilation") > 1) call.attributes.set("padding", std::int64_t{kernel});
  call.inputs = {with(x, {nan, infinity, -0.0f, -infinity}),
                 uniform({groups * outputs, inputs, kernel, kernel}, 2)};
  if (draw(0, 1) == 0) call.inputs.push_back(uniform({groups * outputs}, 3));
  return call;
}

/// Returns a norm in which a channel has a factor of 0 and a shift of -0, another one a variance of
/// 0, and another one a mean that is infinite.
OpCall norm_of(std::int64_t channels) {
  Tensor weight = uniform({channels}, 4), bias = uniform({channels}, 5);
  Tensor mean = uniform({channels}, 6), variance = uniform({channels}, 7, 0.5, 2);
  weight = with(weight, {0.0f});
  bias = with(bias, {-0.0f});
  if (channels > 8) {
    mean = with(mean, {0.5f, 0.25f, infinity});
    variance = with(variance, {0, 1, 2, infinity});
  }
  return {.op = &batch_norm_inference,
          .attributes = {{"eps", 1e-3}},
          .inputs = {weight, bias, mean, variance}};
}

Chain drawn_chain(Draws& draw) {
  Chain chain{drawn_convolution(draw)};
  const Shape result = output_types(chain.convolution)[0].shape;
  const bool norm = draw(0, 3) != 0, sum = draw(0, 2) == 0;
  if (norm) chain.steps.push_back({norm_of(result[1])});
  if (sum)
    chain.steps.push_back(
        {.call = {.op = &add, .inputs = {with(uniform(result, 8), {infinity, -0.0f})}},
         .position = static_cast<std::size_t>(draw(0, 1))});
  switch (draw(norm || sum ? 0 : 1, 3)) {
    case 1:
      chain.steps.push_back({{.op = &relu}});
      break;
    case 2:
      chain.steps.push_back({{.op = &hardtanh, .attributes = {{"low", 0.0}, {"high", 6.0}}}});
      break;
    case 3:
      chain.steps.push_back({{.op = &hardtanh}});
      break;
    default:
      break;
  }
  return chain;
}

/// Returns the name of the kernel that computes the convolution.
std::string kernel_of(const OpCall& call) {
  const Conv2dGeometry sizes(call.attributes, call.inputs[0].shape(), call.inputs[1].shape(),
                             output_types(call)[0].shape);
  if (const auto depthwise = depthwise_form(sizes))
    return convolves_by_channels(*depthwise) ? "by channels" : "by planes";
  const Windows windows = forward_windows(sizes);
  if (convolves_directly(windows)) return "directly";
  return convolves_by_samples(windows) ? "by samples" : "packed";
}

TEST(Conv2dInference, HasTheBitsOfTheOpsThatItReplaces) {
  std::map<std::string, int> kernels;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Draws draw(seed);
    const Chain chain = drawn_chain(draw);
    const std::string kernel = kernel_of(chain.convolution);
    ++kernels[kernel];
    SCOPED_TRACE("chain " + std::to_string(seed) + ", " + kernel + ", " +
                 to_string(chain.convolution.inputs[0].shape()) + " * " +
                 to_string(chain.convolution.inputs[1].shape()));
    expect_same_bits(chain);
  }
  for (const char* kernel : {"by channels", "by planes", "directly", "by samples", "packed"})
    EXPECT_GT(kernels[kernel], 10) << kernel;
}

TEST(Conv2dInference, KeepsNaNAndMinusZeroAtItsBounds) {
  const Tensor x({1, 1, 1, 5}, std::vector<float>{nan, 0, infinity, -infinity, 7});
  const auto number = [](float value) { return Tensor({1}, std::vector<float>{value}); };
  const Tensor weight({1, 1, 1, 1}, std::vector<float>{1});
  // The norm returns -x, and -0 for 0.
  const OpCall call{.op = &conv2d_inference,
                    .attributes = {{"low", 0.0}, {"high", 6.0}, {"eps", 1e-30}},
                    .inputs = {x, weight, number(-1), number(-0.0f), number(0), number(1)}};
  const Tensor y = run(call)[0];
  const auto values = y.as<float>();
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_TRUE(values[1] == 0 && std::signbit(values[1]));
  EXPECT_EQ(values[2], 0);
  EXPECT_EQ(values[3], 6);
  EXPECT_EQ(values[4], 0);
}

/// A Nodes has nodes that read value 9, whose shape is that of values 5 and 9, and not of the
/// others.
struct Nodes {
  Graph graph = {};
  Node norm{.name = "norm", .op = &batch_norm_inference, .inputs = {9, 1, 2, 3, 4}};
  Node sum{.name = "sum", .op = &add, .inputs = {5, 9}};
  Node clamp{.name = "act", .op = &hardtanh, .inputs = {9}, .outputs = {11}};

  Nodes() {
    graph.values.resize(12);
    graph.values[5].type.shape = graph.values[9].type.shape = {2, 3, 4, 4};
  }
  static Node convolution(Attributes attributes = {}) {
    return {.name = "conv", .op = &conv2d, .attributes = std::move(attributes), .inputs = {7, 8}};
  }
  std::optional<Node> both(const Node& node, const Node& reader, std::size_t position = 0) const {
    return joined_convolution(graph, node, reader, position);
  }
};

TEST(Conv2dInference, JoinsANormThenASumAndThenAClamp) {
  const Nodes nodes;
  const Node normalises = nodes.both(nodes.convolution({{"stride", 2}}), nodes.norm).value();
  EXPECT_EQ(normalises.inputs, (std::vector<ValueId>{7, 8, 1, 2, 3, 4}));
  EXPECT_EQ(normalises.attributes, (Attributes{{"stride", 2}, {"eps", 1e-5}}));
  const Node adds = nodes.both(normalises, nodes.sum, 1).value();
  EXPECT_EQ(adds.inputs, (std::vector<ValueId>{7, 8, 1, 2, 3, 4, 5}));
  const Node clamps = nodes.both(adds, nodes.clamp).value();
  EXPECT_EQ(clamps.attributes,
            (Attributes{{"stride", 2}, {"eps", 1e-5}, {"adds", 1}, {"low", -1.0}, {"high", 1.0}}));
  EXPECT_EQ(clamps.name, "conv");
  EXPECT_EQ(clamps.outputs, nodes.clamp.outputs);
}

TEST(Conv2dInference, JoinsNothingElse) {
  const Nodes nodes;
  const Node convolution = nodes.convolution();
  const Node normalises = nodes.both(convolution, nodes.norm).value();
  const Node adds = nodes.both(convolution, nodes.sum, 1).value();
  const Node clamps = nodes.both(convolution, nodes.clamp).value();
  EXPECT_FALSE(nodes.both(normalises, nodes.norm));
  EXPECT_FALSE(nodes.both(adds, nodes.norm));
  EXPECT_FALSE(nodes.both(adds, nodes.sum, 1));
  for (const Node& reader : {nodes.norm, nodes.clamp}) EXPECT_FALSE(nodes.both(clamps, reader));
  EXPECT_FALSE(nodes.both(clamps, nodes.sum, 1));
  EXPECT_FALSE(nodes.both(nodes.convolution({{"relu", 1}}), nodes.norm));
  EXPECT_FALSE(nodes.both(convolution, convolution));
  EXPECT_FALSE(nodes.both(nodes.norm, nodes.clamp));
  // The output of the convolution is the weight of the norm, or the other term has another shape.
  EXPECT_FALSE(nodes.both(convolution, nodes.norm, 1));
  EXPECT_FALSE(nodes.both(convolution, {.op = &add, .inputs = {9, 6}}));
}

}  // namespace
}  // namespace penstock::graph
