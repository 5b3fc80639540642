#include "apps/networks/networks.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "engine/model/model_access.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::networks {
namespace {

/// A Parameter is the name and the shape of a parameter, and the block of the layer that uses the
/// parameter.
using Parameter = std::tuple<std::string, Shape, std::string>;
using Parameters = std::vector<Parameter>;

struct Expected {
  const char* name;
  Parameters parameters;
  double mean, std;
};

const std::vector<Expected> expected{
    {"mnist-cnn",
     {{"layer1.conv.weight", {10, 1, 5, 5}, "B1"},
      {"layer1.conv.bias", {10}, "B1"},
      {"layer2.conv.weight", {20, 10, 5, 5}, "B2"},
      {"layer2.conv.bias", {20}, "B2"},
      {"layer3.weight", {256, 320}, "B3"},
      {"layer3.bias", {256}, "B3"},
      {"layer4.weight", {10, 256}, "B4"},
      {"layer4.bias", {10}, "B4"}},
     0.1307,
     0.3081},
    {"fashion-cnn",
     {{"conv1.weight", {5, 1, 3, 3}, "B1"},
      {"conv1.bias", {5}, "B1"},
      {"conv2.weight", {12, 5, 5, 5}, "B2"},
      {"conv2.bias", {12}, "B2"},
      {"norm.weight", {12}, "B2"},
      {"norm.bias", {12}, "B2"},
      {"fc1.weight", {100, 972}, "B3"},
      {"fc1.bias", {100}, "B3"},
      {"fc2.weight", {10, 100}, "B4"},
      {"fc2.bias", {10}, "B4"}},
     0.1307,
     0.3081},
    {"cifar-cnn",
     {{"conv1.weight", {16, 3, 3, 3}, "B1"},
      {"conv1.bias", {16}, "B1"},
      {"conv2.weight", {32, 16, 3, 3}, "B2"},
      {"conv2.bias", {32}, "B2"},
      {"conv3.weight", {64, 32, 3, 3}, "B3"},
      {"conv3.bias", {64}, "B3"},
      {"fc.weight", {10, 1024}, "B4"},
      {"fc.bias", {10}, "B4"}},
     0.4734,
     0.2516},
    {"mlp",
     {{"dense256.weight", {256, 784}, "B1"},
      {"dense256.bias", {256}, "B1"},
      {"dense128.weight", {128, 256}, "B2"},
      {"dense128.bias", {128}, "B2"},
      {"dense64.weight", {64, 128}, "B3"},
      {"dense64.bias", {64}, "B3"},
      {"dense32.weight", {32, 64}, "B3"},
      {"dense32.bias", {32}, "B3"},
      {"logits.weight", {10, 32}, "B4"},
      {"logits.bias", {10}, "B4"}},
     0,
     1},
};

std::string block_of(const graph::Graph& graph, const graph::Node& node) {
  return node.block == graph::none ? "" : graph.blocks[static_cast<std::size_t>(node.block)].name;
}

Parameters parameters_of(const graph::Graph& graph) {
  Parameters parameters;
  for (const graph::Node& node : graph.nodes)
    for (const graph::ValueId input : node.inputs) {
      const graph::Value& value = graph.value(input);
      if (value.kind == graph::ValueKind::parameter)
        parameters.emplace_back(value.name, value.type.shape, block_of(graph, node));
    }
  return parameters;
}

// F1, F6 and F7 of docs/reference.md: the first three networks have 90,026, 99,896 and 244,522
// trained numbers.
TEST(Networks, HaveTheParametersOfTheirPyTorchTwinsInTheirBlocks) {
  for (const Expected& network : expected) {
    const Model model = find_network(network.name).build(0);
    EXPECT_EQ(parameters_of(ModelAccess::graph(model)), network.parameters) << network.name;
  }
}

TEST(Networks, TakeImagesAndLabelsAndGiveLogitsAndALossInTheLastBlock) {
  for (const Network* network : all_networks()) {
    const Model model = network->build(0);
    const graph::Graph& graph = ModelAccess::graph(model);
    ASSERT_EQ(graph.inputs.size(), 2u) << network->name;
    EXPECT_EQ(graph.value(graph.inputs[0]).name, "image");
    const ImageKind& images = network->images;
    EXPECT_EQ(graph.type(graph.inputs[0]).shape,
              (Shape{1, images.channels, images.height, images.width}));
    EXPECT_EQ(graph.value(graph.inputs[1]).name, "labels");
    ASSERT_EQ(graph.outputs.size(), 1u) << network->name;
    EXPECT_EQ(graph.outputs[0].name, "logits");
    EXPECT_EQ(graph.type(graph.outputs[0].value).shape, (Shape{1, 10}));
    ASSERT_NE(graph.loss, graph::none) << network->name;
    EXPECT_EQ(block_of(graph, graph.node(graph.value(graph.loss).producer)), "B4");
  }
}

TEST(Networks, NormaliseTheirPixelsAsTheirTwinsDo) {
  for (const Expected& network : expected) {
    EXPECT_EQ(find_network(network.name).normalization.mean, network.mean) << network.name;
    EXPECT_EQ(find_network(network.name).normalization.std, network.std) << network.name;
  }
}

TEST(Networks, AnUnknownOneIsRefusedWithTheKnownOnes) {
  EXPECT_EQ(testing::refusal(Errc::invalid_argument, [] { find_network("mnist_cnn"); }),
            "there is no network named \"mnist_cnn\"; there are cifar-cnn, fashion-cnn, mlp, "
            "mnist-cnn, mobilenet-v2, resnet18, resnet50");
}

TEST(Networks, AreTestedInTheirParametersOrTakeAllImages) {
  std::size_t taking_all = 0;
  for (const Network* network : all_networks()) taking_all += network->takes_all_images ? 1 : 0;
  EXPECT_EQ(all_networks().size(), expected.size() + taking_all);
}

TEST(Networks, RefuseImagesForWhichTheyAreNotMade) {
  const auto refused = [](const char* name, const ImageKind& kind) {
    return testing::refusal(Errc::invalid_argument, [&] { find_network(name).build(kind, 0); });
  };
  EXPECT_EQ(refused("mlp", cifar10_images),
            "mlp: expected images [1,28,28] in 10 classes, got [3,32,32] in 10 classes");
  EXPECT_EQ(refused("cifar-cnn", {.channels = 3, .height = 32, .width = 32, .classes = 5}),
            "cifar-cnn: expected images [3,32,32] in 10 classes, got [3,32,32] in 5 classes");
  EXPECT_EQ(refused("resnet18", {.width = 0}),
            "resnet18: expected images of one pixel and one class or more, got [1,28,0] in 10 "
            "classes");
}

TEST(Networks, HaveNoBlocksOnceTheirMarksAreRemoved) {
  for (const Network* network : all_networks()) {
    Model model = network->build(0);
    model.remove_block_marks();
    EXPECT_TRUE(ModelAccess::graph(model).blocks.empty()) << network->name;
  }
}

}  // namespace
}  // namespace penstock::networks
