#include "apps/trainer/begin_blocks.hpp"

#include <gtest/gtest.h>

#include <string>

#include "apps/networks/gpt.hpp"
#include "apps/networks/networks.hpp"
#include "tests/support/refusal.hpp"

namespace trainer {
namespace {

using penstock::Errc;
using penstock::Model;
using penstock::networks::find_network;

/// Returns the blocks of the layers, each once, as in "start@0 layer4@1". A block without an IPU
/// has no "@".
std::string blocks_of(const Model& model) {
  std::string text, last;
  for (const penstock::LayerStage& layer : model.stage_assignment()) {
    const std::string block = layer.block + (layer.ipu < 0 ? "" : '@' + std::to_string(layer.ipu));
    if (block != last) text += (text.empty() ? "" : " ") + block;
    last = block;
  }
  return text;
}

std::string blocks_of(Model model, const std::vector<BlockStart>& starts) {
  begin_blocks(model, starts);
  return blocks_of(model);
}

TEST(BeginBlocks, TakeThePlaceOfTheNetworksOwn) {
  const Model resnet = find_network("resnet18").build(0);
  EXPECT_EQ(blocks_of(resnet), "B1 B2 B3 B4");
  EXPECT_EQ(blocks_of(resnet, {{"layer4", 1}}), "start@0 layer4@1");
}

TEST(BeginBlocks, CutEveryNetworkAtItsLayers) {
  EXPECT_EQ(blocks_of(find_network("mobilenet-v2").build(0), {{"features.7"}, {"features.1", 3}}),
            "start@0 features.1@3 features.7");
  EXPECT_EQ(blocks_of(find_network("resnet18").build(0), {{"layer2.1.conv2", 1}}),
            "start@0 layer2.1.conv2@1");
  EXPECT_EQ(blocks_of(find_network("mnist-cnn").build(0), {{"layer4", 1}}), "start@0 layer4@1");
  EXPECT_EQ(blocks_of(find_network("fashion-cnn").build(0), {{"norm", 1}}), "start@0 norm@1");
  EXPECT_EQ(blocks_of(find_network("cifar-cnn").build(0), {{"conv1", 2}, {"fc"}}), "conv1@2 fc");
  EXPECT_EQ(blocks_of(find_network("mlp").build(0), {{"relu_1"}}), "start@0 relu_1");
  EXPECT_EQ(blocks_of(penstock::networks::gpt({.layers = 3}, 0), {{"h.2", 1}}), "start@0 h.2@1");
}

/// Returns a network whose layers have the names that PyTorch's exporter gives to nodes.
Model exported() {
  Model model("exported");
  penstock::Value x = model.input("x", {3});
  for (const char* name :
       {"conv1.Conv", "layer4.layer4.0.conv1.Conv", "layer4.layer4.1.conv1.Conv"})
    x = model.linear(name, x, 3);
  model.loss(model.cross_entropy(x, model.labels()));
  return model;
}

TEST(BeginBlocks, FindNodesScopesAndModulesOfExportedNetworks) {
  EXPECT_EQ(blocks_of(exported(), {{"layer4", 1}}), "start@0 layer4@1");
  EXPECT_EQ(blocks_of(exported(), {{"/layer4/layer4.1/conv1/Conv"}}),
            "start@0 layer4.layer4.1.conv1.Conv");
  EXPECT_EQ(blocks_of(exported(), {{"layer4.1", 2}}), "start@0 layer4.layer4.1@2");
  EXPECT_EQ(blocks_of(exported(), {{"layer4.0/conv1"}}), "start@0 layer4.layer4.0.conv1");
}

std::string refused(Model model, const std::vector<BlockStart>& starts) {
  return penstock::testing::refusal(Errc::invalid_argument, [&] { begin_blocks(model, starts); });
}

TEST(BeginBlocks, AreRefusedWithTheLayersThatAreNear) {
  const Model resnet = find_network("resnet18").build(0);
  EXPECT_EQ(
      refused(resnet, {{"layer9", 1}}),
      "--begin-block layer9: the model resnet18 has no layer of that name; there are conv1, bn1, "
      "layer1, layer2, layer3, layer4, fc");
  EXPECT_EQ(refused(resnet, {{"layer4.2.conv1"}}),
            "--begin-block layer4.2.conv1: the model resnet18 has no layer of that name; there are "
            "layer4.0, "
            "layer4.1");
  EXPECT_EQ(refused(resnet, {{"layer4.1.conv3"}}),
            "--begin-block layer4.1.conv3: the model resnet18 has no layer of that name; there are "
            "layer4.1.conv1, layer4.1.bn1, layer4.1.conv2, layer4.1.bn2");
  EXPECT_EQ(
      refused(resnet, {{"layer"}}).find("--begin-block layer: the model resnet18 has no layer"),
      0U);
  EXPECT_EQ(refused(resnet, {{"a\nb." + std::string(1000, 'c')}}).find('\n'), std::string::npos);
  EXPECT_EQ(refused(penstock::networks::gpt({.layers = 25}, 0), {{"h.25"}}),
            "--begin-block h.25: the model gpt has no layer of that name; there are h.0, h.1, h.2, "
            "h.3, h.4, "
            "h.5, h.6, h.7, h.8, h.9, h.10, h.11, h.12, h.13, h.14, h.15, h.16, h.17, h.18, h.19 "
            "and 5 more");
  EXPECT_EQ(refused(penstock::networks::gpt({.layers = 1}, 0), {{"wpe"}}),
            "--begin-block wpe: the model gpt has no layer of that name; there are wte, h, ln_f");
}

/// Returns the last layer of each stage.
std::vector<std::string> ends_of_stages(Model model, const std::vector<std::string>& layers) {
  split_after(model, layers);
  std::vector<std::string> ends;
  int stage = -1;
  for (const penstock::LayerStage& layer : model.stage_assignment()) {
    if (layer.stage != stage) ends.emplace_back();
    stage = layer.stage;
    ends.back() = layer.layer;
  }
  return ends;
}

TEST(SplitAfter, EndsStagesBehindLayersAndGroupsOfThem) {
  using Ends = std::vector<std::string>;
  EXPECT_EQ(ends_of_stages(find_network("mlp").build(0), {"dense128", "relu_1"}),
            (Ends{"relu_1", "dense128", "cross_entropy_1"}));
  EXPECT_EQ(ends_of_stages(find_network("mobilenet-v2").build(0), {"features.3"})[0],
            "features.3.conv.3");
}

TEST(SplitAfter, IsRefusedWithTheLayersThatAreNear) {
  const std::string text = penstock::testing::refusal(Errc::invalid_argument, [&] {
    ends_of_stages(find_network("resnet18").build(0), {"layer9"});
  });
  EXPECT_EQ(text,
            "--split-after layer9: the model resnet18 has no layer of that name; there are conv1, "
            "bn1, layer1, "
            "layer2, layer3, layer4, fc");
}

TEST(BeginBlocks, AreRefusedWhereAnotherOneBegins) {
  EXPECT_EQ(refused(find_network("resnet18").build(0), {{"layer4", 1}, {"layer4.0.conv1"}}),
            "--begin-block layer4.0.conv1: block \"layer4\" begins there already");
}

}  // namespace
}  // namespace trainer
