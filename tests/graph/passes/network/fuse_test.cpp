#include "graph/passes/network/fuse.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/ir/op.hpp"
#include "tests/support/model_builder.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using Names = std::vector<std::string>;

/// Returns the op of each node, with "+relu" behind it if the op has a ReLU of its own.
Names ops(const Graph& graph) {
  Names names;
  for (const Node& node : graph.nodes)
    names.push_back(std::string(node.op->name) + (node.attributes.flag("relu") ? "+relu" : ""));
  return names;
}

/// Returns the ops of x -> linear -> relu, and of what `more` adds, after the pass.
template <class More>
Names fused(More more) {
  ModelBuilder model;
  const auto x = model.input("x", {4});
  const auto z = model.linear("fc", x, 3);
  const auto y = model.apply("relu", {z}, {}, "act");
  more(model, z, y);
  return ops(fuse(model.graph()));
}

TEST(FuseRelu, TakesAReluIntoTheLayerBeforeIt) {
  EXPECT_EQ(fused([](auto& model, auto, auto y) { model.output("y", y); }), Names{"linear+relu"});
  ModelBuilder model;
  const auto x = model.input("x", {2, 5, 5});
  const auto weight = model.parameter("weight", {3, 2, 3, 3});
  model.output("y", model.apply("relu", {model.apply("conv2d", {x, weight})}));
  EXPECT_EQ(ops(fuse(model.graph())), Names{"conv2d+relu"});
}

TEST(FuseRelu, LeavesAReluWhoseInputSomebodyElseReads) {
  const Names apart{"linear", "relu"};
  EXPECT_EQ(fused([](auto& model, auto z, auto y) {
              model.output("y", y);
              model.output("z", z);
            }),
            apart);
  EXPECT_EQ(fused([](auto& model, auto z, auto y) {
              model.output("y", model.apply("add", {z, y}));
            }),
            (Names{"linear", "relu", "add"}));
  EXPECT_EQ(fused([](auto& model, auto z, auto) { model.loss(z); }), apart);
}

TEST(FuseRelu, LeavesAReluOfAnotherBlock) {
  ModelBuilder model;
  const auto x = model.input("x", {4});
  model.block("A");
  const auto z = model.linear("fc", x, 3);
  model.block("B");
  model.output("y", model.apply("relu", {z}));
  EXPECT_EQ(ops(fuse(model.graph())), (Names{"linear", "relu"}));
}

TEST(FuseRelu, KeepsTheReaderOfWhatItMade) {
  ModelBuilder model;
  const auto x = model.input("x", {4});
  const auto hidden = model.apply("relu", {model.linear("a", x, 3)});
  model.output("y", model.linear("b", hidden, 2));
  const Graph graph = fuse(model.graph());
  ASSERT_EQ(ops(graph), (Names{"linear+relu", "linear"}));
  EXPECT_EQ(graph.value(graph.nodes[1].inputs[0]).producer, 0);
}

}  // namespace
}  // namespace penstock::graph
