#include "penstock/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "engine/model/model_access.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

std::vector<std::string> parameter_names(const Model& model) {
  std::vector<std::string> names;
  for (const ParameterInfo& info : model.parameters()) names.push_back(info.name);
  return names;
}

/// Returns the name of each node's block, or "" if it has none.
std::vector<std::string> blocks_of_nodes(const Model& model) {
  const graph::Graph& graph = ModelAccess::graph(model);
  std::vector<std::string> names;
  for (const graph::Node& node : graph.nodes)
    names.push_back(
        node.block == graph::none ? "" : graph.blocks[static_cast<std::size_t>(node.block)].name);
  return names;
}

TEST(Model, IsBuiltForOneSampleAtATime) {
  Model model;
  const Value image = model.input("image", {1, 28, 28});
  EXPECT_EQ(model.shape(image), (Shape{1, 1, 28, 28}));
  EXPECT_EQ(model.shape(model.labels()), (Shape{1}));
}

TEST(Model, CopiesShareNetworkAndWeights) {
  Model model;
  Model copy = model;
  model.linear("fc", copy.input("x", {4}), 3);
  EXPECT_EQ(parameter_names(copy), (std::vector<std::string>{"fc.weight", "fc.bias"}));
  copy.set_weight("fc.bias", Tensor({3}, {1.f, 2.f, 3.f}));
  EXPECT_EQ(model.weight("fc.bias").as<float>()[2], 3);
}

// F17 of docs/reference.md: the seed decides the weights.
TEST(Model, ALayersWeightsComeFromItsNameAndTheSeedAlone) {
  const auto weight = [](std::uint64_t seed, bool another_first) {
    Model model("m", seed);
    Value x = model.input("x", {4});
    if (another_first) x = model.linear("first", x, 4);
    model.linear("fc", x, 3);
    const Tensor tensor = model.weight("fc.weight");
    return std::vector<float>(tensor.as<float>().begin(), tensor.as<float>().end());
  };
  EXPECT_EQ(weight(1, false), weight(1, true));
  EXPECT_NE(weight(1, false), weight(2, false));
}

// A1 of docs/reference.md: layers inside a scope belong to its block.
TEST(Model, NodesBelongToTheInnermostOpenBlock) {
  Model model;
  Value x = model.input("x", {4});
  x = model.relu(x);
  {
    const auto outer = model.block("outer");
    x = model.relu(x);
    {
      const auto inner = model.block("inner");
      x = model.relu(x);
    }
    x = model.relu(x);
  }
  {
    const auto again = model.block("inner", 3);
    x = model.relu(x);
  }
  EXPECT_EQ(blocks_of_nodes(model),
            (std::vector<std::string>{"", "outer", "inner", "outer", "inner"}));
  const auto& blocks = ModelAccess::graph(model).blocks;
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].ipu, -1);
  EXPECT_EQ(blocks[1].ipu, 3);
}

TEST(Model, ABlockThatEndsBeforeAnInnerOneLeavesTheInnerOneOpen) {
  Model model;
  const Value x = model.input("x", {4});
  std::unique_ptr<BlockScope> outer(new BlockScope(model.block("outer")));
  const auto inner = model.block("inner");
  outer.reset();
  model.relu(x);
  EXPECT_EQ(blocks_of_nodes(model), (std::vector<std::string>{"inner"}));
}

TEST(Model, ABlockMayOutliveTheModel) {
  std::optional<Model> model(std::in_place);
  const auto block = model->block("B1");
  EXPECT_NO_THROW(model.reset());
}

TEST(Model, ARefusedLayerLeavesNothingBehind) {
  Model model;
  const Value image = model.input("image", {1, 28, 28});
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.linear("fc", image, 0); }),
            "linear \"fc\": expected out_features of 1 or more, got 0");
  EXPECT_EQ(
      refusal(Errc::shape_mismatch, [&] { model.linear("fc", model.input("n", {}), 3); }),
      "linear \"fc\": expected x of rank 2 or more, got [1]; reshape() gives it another rank");
  const Value ids = model.input("ids", {4}, DType::i64);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.linear("fc", ids, 3); }),
            "linear \"fc\": expected x of type f32, got i64[1,4]; to_float() makes f32 of it");
  EXPECT_TRUE(model.parameters().empty());
  model.linear("fc", model.input("x", {4}), 3);
  EXPECT_EQ(ModelAccess::graph(model).variables.size(), 2u);
}

TEST(Model, ValuesOfNoModelOrAnotherAreRefused) {
  Model model("m"), other("other");
  const Value foreign = other.input("x", {4});
  model.input("x", {4});
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.relu(foreign); }),
            "relu: expected a value of model \"m\", got one of another model");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.linear("fc", Value(), 3); }),
            "linear \"fc\": expected a value of model \"m\", got one of no model");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.output("y", foreign); }),
            "output \"y\": expected a value of model \"m\", got one of another model");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.loss(foreign); }),
            "loss: expected a value of model \"m\", got one of another model");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.shape(foreign); }),
            "shape: expected a value of model \"m\", got one of another model");
}

TEST(Model, NamesAreUniqueAndNotEmpty) {
  Model model("m");
  const Value x = model.input("x", {4});
  model.linear("fc", x, 3);
  model.output("y", x);
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.input("x", {4}); }),
            "model \"m\": input \"x\": the name is used already");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.linear("fc", x, 3); }),
            "model \"m\": linear \"fc\": the name is used already");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.output("y", x); }),
            "model \"m\": output \"y\": the name is used already");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.linear("", x, 3); }),
            "model \"m\": linear: expected a name, got \"\"");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { (void)model.block(""); }),
            "model \"m\": block: expected a name, got \"\"");
}

TEST(Model, ABlockIsOnOneIpu) {
  Model model("m");
  (void)model.block("B1", 2);
  (void)model.block("B1");
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { (void)model.block("B1", 1); }),
            "model \"m\": block \"B1\": expected IPU 2 as before, got 1");
  const std::string text =
      "model \"m\": block \"B2\": expected IPU 0 to 65535, or -1 for any, got ";
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { (void)model.block("B2", -2); }), text + "-2");
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { (void)model.block("B2", 65536); }),
            text + "65536");
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { model.begin_block("B2", 2147483647); }),
            text + "2147483647");
  (void)model.block("B2", 65535);
}

TEST(Model, HasOneLossOfTypeF32) {
  Model model("m");
  const Value x = model.input("x", {4});
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.loss(model.labels()); }),
            "model \"m\": loss: expected a value of type f32, got i64[1]");
  model.loss(model.mse_loss(x, x));
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.loss(x); }),
            "model \"m\": expected one loss, got mse_loss \"mse_loss_1\" and then \"x\": add them "
            "up and wrap the sum in identity_loss, or train each by an Objective of its own");
}

TEST(Model, AnInputHasElements) {
  Model model("m");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      model.input("x", {3, 0});
                    }),
            "model \"m\": input \"x\": expected up to 7 dimensions of 1 or more, got [3,0]");
}

TEST(Model, ALayerNeedsAtLeastOneOutputFeature) {
  Model model;
  const Value x = model.input("x", {4});
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.linear("fc", x, 0); }),
            "linear \"fc\": expected out_features of 1 or more, got 0");
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.linear("fc", x, std::int64_t{1} << 60); }),
            "linear \"fc\": weight: shape: more elements than any machine holds");
}

}  // namespace
}  // namespace penstock
