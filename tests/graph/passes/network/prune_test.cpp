#include "graph/passes/network/prune.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/passes/network/differentiate.hpp"
#include "tests/support/model_builder.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using Names = std::vector<std::string>;

Names node_names(const Graph& graph) {
  Names names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  return names;
}

Names value_names(const Graph& graph, const std::vector<ValueId>& values) {
  Names names;
  for (const ValueId value : values) names.push_back(graph.value(value).name);
  return names;
}

Names variable_names(const Graph& graph) {
  Names names;
  for (const Variable& variable : graph.variables)
    names.push_back(graph.value(variable.value).name);
  return names;
}

struct TwoHeads {
  ModelBuilder model;
  ValueId left, right;

  TwoHeads() {
    const auto x = model.input("x", {2}), y = model.input("y", {2});
    const auto h = model.apply("relu", {x}, {}, "h");
    right = model.apply("add", {model.linear("fc_right", h, 2), y}, {}, "right");
    left = model.linear("left", h, 2);
  }
};

TEST(Prune, KeepsOnlyWhatIsWanted) {
  const TwoHeads heads;
  const Graph left = prune(heads.model.graph(), {heads.left});
  EXPECT_EQ(node_names(left), (Names{"h", "left"}));
  EXPECT_EQ(value_names(left, left.inputs), Names{"x"});
  EXPECT_EQ(variable_names(left), (Names{"left.weight", "left.bias"}));

  const Graph right = prune(heads.model.graph(), {heads.right});
  EXPECT_EQ(node_names(right), (Names{"h", "fc_right", "right"}));
  EXPECT_EQ(value_names(right, right.inputs), (Names{"x", "y"}));
}

TEST(Prune, KeepsEverythingThatIsWanted) {
  const TwoHeads heads;
  const Graph both = prune(heads.model.graph(), {heads.right, heads.left});
  EXPECT_EQ(node_names(both), node_names(heads.model.graph()));
}

TEST(Prune, LetsNodesAndValuesFindEachOther) {
  const TwoHeads heads;
  const Graph left = prune(heads.model.graph(), {heads.left});
  for (std::size_t id = 0; id < left.nodes.size(); ++id)
    for (const ValueId output : left.nodes[id].outputs)
      EXPECT_EQ(left.value(output).producer, static_cast<NodeId>(id));
  EXPECT_EQ(left.value(heads.right).producer, none);
}

TEST(Prune, KeepsGradientSumsAndWhatTheyBelongTo) {
  TwoHeads heads;
  heads.model.loss(heads.left);
  const Graph graph = prune(differentiate(heads.model.graph()), {heads.left});
  for (const ParameterGradient& gradient : graph.parameter_gradients)
    EXPECT_EQ(graph.node(gradient.use).name, "left");
  for (const Node& node : graph.nodes) {
    EXPECT_TRUE(!node.backward || graph.node(node.forward_of).name == "left") << node.name;
  }
  EXPECT_EQ(node_names(graph).back(), "left/accumulate_2");
}

}  // namespace
}  // namespace penstock::graph
