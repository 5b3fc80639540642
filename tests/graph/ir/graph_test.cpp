#include "graph/ir/graph.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "graph/ir/append.hpp"
#include "graph/ir/op.hpp"
#include "graph/ops/activations/leaky_relu.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/convolution/max_pool2d.hpp"
#include "graph/ops/list.hpp"
#include "penstock/error.hpp"
#include "tests/support/allocation_counter.hpp"

namespace penstock::graph {
namespace {

ValueId add_value(Graph& graph, std::string name, TensorType type, ValueKind kind) {
  graph.values.push_back({.name = std::move(name), .type = type, .kind = kind});
  const auto id = static_cast<ValueId>(graph.values.size() - 1);
  if (kind == ValueKind::input) graph.inputs.push_back(id);
  return id;
}

TEST(Graph, InfersAgainForAnotherBatch) {
  Graph graph;
  const auto x = add_value(graph, "x", {DType::f32, {1, 4}}, ValueKind::input);
  const auto w = add_value(graph, "w", {DType::f32, {3, 4}}, ValueKind::parameter);
  const auto y = graph.node(append(graph, linear, {x, w})).outputs[0];
  const auto z = graph.node(append(graph, relu, {y})).outputs[0];
  EXPECT_EQ(with_batch(graph, 40).type(z).shape, (Shape{40, 3}));
}

TEST(Graph, NamesOpAndNodeWhenShapesDoNotFit) {
  Graph graph;
  const auto x = add_value(graph, "x", {DType::f32, {1, 5}}, ValueKind::input);
  const auto w = add_value(graph, "w", {DType::f32, {3, 4}}, ValueKind::parameter);
  try {
    append(graph, linear, {x, w}, {}, "fc1");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::shape_mismatch);
    EXPECT_STREQ(error.what(), "linear \"fc1\": expected 4 input features, got 5");
  }
}

std::string refusal_of(const Op& op, Attributes attributes) {
  Graph graph;
  const auto x = add_value(graph, "x", {DType::f32, {1, 2, 8, 8}}, ValueKind::input);
  try {
    append(graph, op, {x}, std::move(attributes), "node");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument) << error.what();
    EXPECT_TRUE(graph.nodes.empty());
    return error.what();
  }
  return "";
}

TEST(Graph, RefusesAMisspeltAttribute) {
  EXPECT_EQ(
      refusal_of(max_pool2d, {{"kernel", 2}, {"strid", 2}}),
      "max_pool2d \"node\": expected one of the attributes kernel, stride, padding, dilation, "
      "ceil_mode, got \"strid\"");
  EXPECT_EQ(refusal_of(relu, {{"slope", 0.1}}),
            "relu \"node\": expected no attributes, got \"slope\"");
}

TEST(Graph, RefusesAnAttributeOfAnotherKind) {
  EXPECT_EQ(refusal_of(max_pool2d, {{"kernel", 2.0}}),
            "max_pool2d \"node\": expected the attribute kernel to be one or two integers, got a "
            "real number");
  EXPECT_EQ(refusal_of(leaky_relu, {{"negative_slope", 1}}),
            "leaky_relu \"node\": expected the attribute negative_slope to be a real number, got "
            "an integer");
}

TEST(Graph, RefusesAnUnknownAttributeOfEveryOp) {
  for (const Op* op : all_ops())
    EXPECT_NE(refusal_of(*op, {{"no_such_attribute", 1}}), "") << op->name;
}

TEST(Graph, AGivenNameKeepsItsPlaceAmongTheNumberedOnes) {
  Graph graph;
  const auto x = add_value(graph, "x", {DType::f32, {1, 5}}, ValueKind::input);
  append(graph, relu, {x}, {}, "relu_2");
  EXPECT_EQ(graph.node(append(graph, relu, {x})).name, "relu_3");
}

TEST(Graph, GivesNodesAndTheirValuesTheFirstUnusedName) {
  Graph graph;
  const auto x = add_value(graph, "x", {DType::f32, {1, 5}}, ValueKind::input);
  for (const char* name : {"a", "a_2", "a", "a", "b", "b:1"})
    append_unnamed(graph, relu, {x}, {}, name);
  give_unused_names(graph, 2);
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    names.push_back(node.name);
    EXPECT_EQ(graph.value(node.outputs[0]).name, node.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a", "a_2", "a_3", "a_4", "b", "b:1"}));
}

/// Returns how many allocations it takes to name `count` nodes that want the same name. The name is
/// so long that each string with it allocates.
std::uint64_t allocations_to_name(int count) {
  Graph graph;
  const auto x = add_value(graph, "x", {DType::f32, {1, 5}}, ValueKind::input);
  for (int i = 0; i < count; ++i)
    append_unnamed(graph, relu, {x}, {}, "the sum of an activation's gradients");
  const std::uint64_t before = testing::heap_allocations();
  give_unused_names(graph, 0);
  return testing::heap_allocations() - before;
}

// If each node tried all numbers from 2 on, eight times the nodes would try 64 times as many names.
TEST(Graph, TriesAboutOneNameForEachOfManyNodesThatWantTheSame) {
  EXPECT_LT(allocations_to_name(4000), 9 * allocations_to_name(500));
}

TEST(Graph, RefusesAUsedNameThatItIsToldInASet) {
  Graph graph;
  graph.name = "net";
  const auto x = add_value(graph, "x", {DType::f32, {1, 5}}, ValueKind::input);
  NodeNames names;
  append_named(graph, names, relu, {x}, {}, "a");
  try {
    append_named(graph, names, relu, {x}, {}, "a");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_model);
    EXPECT_STREQ(error.what(), "model \"net\": the name \"a\" is used twice");
  }
}

}  // namespace
}  // namespace penstock::graph
