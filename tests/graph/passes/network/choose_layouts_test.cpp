#include "graph/passes/network/choose_layouts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/passes/network/fuse.hpp"
#include "tests/support/model_builder.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using Names = std::vector<std::string>;

/// Returns the block and the op of each node, such as "A:conv2d".
Names nodes_of(const Graph& graph) {
  Names names;
  for (const Node& node : graph.nodes)
    names.push_back(graph.blocks[index(node.block)].name + ":" + std::string(node.op->name));
  return names;
}

/// A SmallNetwork has conv -> pool -> relu in block A, conv -> relu in block B, and linear in block
/// C.
struct SmallNetwork {
  ModelBuilder model;
  ValueId pooled, convolved, activated, logits;

  explicit SmallNetwork(std::int64_t channels = 4) {
    const ValueId x = model.block("A").input("x", {1, 12, 12});
    const auto w1 = model.parameter("w1", {channels, 1, 3, 3});
    pooled = model.apply("max_pool2d", {model.apply("conv2d", {x, w1})}, {{"kernel", 2}});
    const auto w2 = model.parameter("w2", {channels, channels, 3, 3});
    const auto first = model.apply("relu", {pooled});
    convolved = model.block("B").apply("conv2d", {first, w2});
    activated = model.apply("relu", {convolved});
    logits = model.block("C").linear("fc", model.apply("flatten", {activated}), 3);
    model.output("logits", logits);
  }
  Graph graph(std::int64_t batch) const { return with_batch(model.graph(), batch); }
};

/// Returns the layouts in which `model` is trained.
LayoutChoice layouts_of(const Graph& model) {
  return choose_layouts(model, true);
}

TEST(ChooseLayouts, ConvertsAtTheSeamsOnly) {
  const LayoutChoice choice = layouts_of(SmallNetwork().graph(40));
  EXPECT_EQ(nodes_of(choice.graph),
            (Names{"A:to_lanes", "A:conv2d_lanes", "A:max_pool2d_lanes", "A:relu", "B:conv2d_lanes",
                   "B:relu", "C:from_lanes", "C:flatten", "C:linear"}));
  EXPECT_EQ(choice.conversions, 2);
  EXPECT_EQ(choice.graph.type(choice.graph.outputs[0].value).shape, (Shape{40, 3}));
}

TEST(ChooseLayouts, LeavesWideLayersAndSmallMicroBatchesAlone) {
  const auto plain = nodes_of(SmallNetwork().graph(40));
  EXPECT_EQ(nodes_of(layouts_of(SmallNetwork(64).graph(40)).graph), plain);
  EXPECT_EQ(nodes_of(layouts_of(SmallNetwork().graph(4)).graph), plain);
  EXPECT_NE(nodes_of(layouts_of(SmallNetwork().graph(11)).graph), plain);
}

/// Returns a network of depthwise and pointwise convolutions with batch norms, for micro-batches of
/// `batch` samples.
Graph separable_network(std::int64_t batch) {
  ModelBuilder model;
  ValueId x = model.block("A").input("x", {64, 25, 5});
  const auto norm = [&](const std::string& name, ValueId image) {
    std::vector<ValueId> inputs{image};
    for (const char* part : {".weight", ".bias", ".mean", ".var"})
      inputs.push_back(model.parameter(name + part, {64}));
    return model.apply("batch_norm", inputs);
  };
  x = model.apply("conv2d", {x, model.parameter("each", {64, 1, 3, 3})},
                  {{"groups", 64}, {"padding", 1}});
  x = model.apply("relu", {norm("norm1", x)});
  x = norm("norm2", model.apply("conv2d", {x, model.parameter("mixed", {64, 64, 1, 1})}));
  model.output("y", x);
  return with_batch(model.graph(), batch);
}

TEST(ChooseLayouts, KeepsSeparableConvolutionsAndTheirNormsInLanes) {
  EXPECT_EQ(nodes_of(layouts_of(separable_network(32)).graph),
            (Names{"A:to_lanes", "A:depthwise_conv2d_lanes", "A:batch_norm", "A:relu",
                   "A:pointwise_conv2d_lanes", "A:batch_norm", "A:from_lanes"}));
  // In inference, a convolution computes the norm that follows it, and has no lanes for that.
  EXPECT_EQ(choose_layouts(separable_network(32), false).conversions, 0);
  // Statistics would count lanes without samples.
  EXPECT_EQ(layouts_of(separable_network(24)).conversions, 0);
}

// A kernel of one pixel is no reason for a conversion. Where lanes have no sample, the kernels of
// small convolutions leave them out.
TEST(ChooseLayouts, HasConvolutionsOfOnePixelFollowTheLayerBefore) {
  ModelBuilder model;
  const ValueId x = model.block("A").input("x", {4, 5, 5});
  const ValueId mixed = model.apply("conv2d", {x, model.parameter("w0", {4, 4, 1, 1})});
  const ValueId image = model.apply("conv2d", {mixed, model.parameter("w1", {4, 4, 3, 3})});
  const ValueId wide = model.apply("conv2d", {image, model.parameter("w2", {300, 4, 1, 1})});
  model.output("y", model.apply("conv2d", {wide, model.parameter("w3", {4, 300, 1, 1})}));
  EXPECT_EQ(nodes_of(layouts_of(with_batch(model.graph(), 16)).graph),
            (Names{"A:conv2d", "A:to_lanes", "A:conv2d_lanes", "A:pointwise_conv2d_lanes",
                   "A:pointwise_conv2d_lanes", "A:from_lanes"}));
  EXPECT_EQ(
      nodes_of(layouts_of(with_batch(model.graph(), 15)).graph),
      (Names{"A:conv2d", "A:to_lanes", "A:conv2d_lanes", "A:from_lanes", "A:conv2d", "A:conv2d"}));
}

// If a norm went by a conversion, an anchor on a layer beside it would change its bits.
TEST(ChooseLayouts, HasNoNormFollowAConversionForAnotherLayer) {
  ModelBuilder model;
  const ValueId x = model.block("A").input("x", {4, 5, 5});
  const auto vector = [&](const char* name) { return model.parameter(name, {4}); };
  model.output("beside", model.apply("conv2d", {x, model.parameter("w", {4, 4, 3, 3})}));
  model.output("y", model.apply("batch_norm", {x, vector("weight"), vector("bias"), vector("mean"),
                                               vector("variance")}));
  const Names names = nodes_of(layouts_of(with_batch(model.graph(), 16)).graph);
  EXPECT_EQ(names, (Names{"A:to_lanes", "A:conv2d_lanes", "A:batch_norm", "A:from_lanes"}));
}

TEST(ChooseLayouts, GivesTheHostStatisticsAsTheyAre) {
  Graph model = separable_network(32);
  for (const Node& node : model.nodes)
    if (node.op->has_batch_statistics) {
      model.outputs.push_back({.name = "mean", .value = node.outputs[1]});
      break;
    }
  const Graph graph = layouts_of(model).graph;
  EXPECT_EQ(graph.type(graph.outputs[1].value).shape, (Shape{64}));
}

TEST(ChooseLayouts, GivesTheHostItsOwnShapes) {
  SmallNetwork network;
  network.model.output("pooled", network.pooled);
  const Graph graph = layouts_of(network.graph(16)).graph;
  EXPECT_EQ(graph.type(graph.outputs[1].value).shape, (Shape{16, 4, 5, 5}));
  EXPECT_EQ(
      graph.blocks[index(graph.node(graph.value(graph.outputs[1].value).producer).block)].name,
      "A");
}

TEST(Fuse, JoinsConvolutionPoolingAndRelu) {
  const Graph graph = fuse(layouts_of(SmallNetwork().graph(16)).graph);
  EXPECT_EQ(nodes_of(graph), (Names{"A:to_lanes", "A:conv2d_pool_relu_lanes", "B:conv2d_lanes",
                                    "C:from_lanes", "C:flatten", "C:linear"}));
  EXPECT_TRUE(graph.nodes[2].attributes.flag("relu"));
  EXPECT_EQ(graph.nodes[1].attributes.integer("batch"), 16);
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    for (const ValueId output : graph.nodes[id].outputs)
      EXPECT_EQ(graph.value(output).producer, static_cast<NodeId>(id));
}

TEST(Fuse, MovesACheckpointToWhatIsStillComputed) {
  const SmallNetwork network;
  Graph model = network.graph(16);
  model.value(network.pooled).checkpoint = model.value(network.convolved).checkpoint = true;
  const Graph graph = fuse(layouts_of(model).graph);
  for (const std::size_t node : {1, 2})
    EXPECT_TRUE(graph.value(graph.nodes[node].outputs[0]).checkpoint) << node;
  EXPECT_EQ(nodes_of(graph), nodes_of(fuse(layouts_of(network.graph(16)).graph)));
}

TEST(Fuse, LeavesWhatSomebodyElseReads) {
  SmallNetwork network;
  network.model.output("pooled", network.pooled);
  network.model.output("convolved", network.convolved);
  const Graph before = layouts_of(network.graph(16)).graph;
  EXPECT_EQ(nodes_of(fuse(before)), nodes_of(before));
}

TEST(Fuse, StaysInsideABlock) {
  ModelBuilder model;
  const ValueId x = model.block("A").input("x", {1, 12, 12});
  const auto w = model.parameter("w", {4, 1, 3, 3});
  const auto pooled = model.apply("max_pool2d", {model.apply("conv2d", {x, w})}, {{"kernel", 2}});
  model.block("B").output("y", model.apply("relu", {pooled}));
  const Graph before = layouts_of(with_batch(model.graph(), 16)).graph;
  EXPECT_EQ(nodes_of(fuse(before)), nodes_of(before));
}

}  // namespace
}  // namespace penstock::graph
