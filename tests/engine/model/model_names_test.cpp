// These tests check the names of a model's parts while parts come and go, and if there are very
// many.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "engine/model/model_access.hpp"
#include "penstock/error.hpp"
#include "penstock/sequential.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

std::vector<std::string> layers_of(const Model& model) {
  std::vector<std::string> names;
  for (const graph::Node& node : ModelAccess::graph(model).nodes) names.push_back(node.name);
  return names;
}

void add_everything(Model& model, Value x) {
  const auto block = model.block("block");
  const Value y = model.linear("fc", model.relu(x), 2);
  model.input("more", {2});
  model.output("y", y);
}

TEST(ModelNames, MayBeGivenAgainWhenWhatHadThemWasTakenBack) {
  Model model("m");
  const Value x = model.relu(model.input("x", {2}));
  Sequential chain(model, x);
  const auto add_and_throw = [](Model& of, Value value) -> Value {
    add_everything(of, value);
    throw std::runtime_error("no");
  };
  for (int times = 0; times < 2; ++times)
    EXPECT_THROW(chain.add(add_and_throw), std::runtime_error);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { model.linear("fc", x, 0); }).find("linear"), 0U);
  add_everything(model, x);
  EXPECT_EQ(layers_of(model), (std::vector<std::string>{"relu_1", "relu_2", "fc"}));
  for (const char* name : {"fc", "relu_2"})
    EXPECT_NE(refusal(Errc::invalid_model, [&] { model.linear(name, x, 2); }), "accepted");
  EXPECT_NE(refusal(Errc::invalid_model, [&] { model.input("more", {2}); }), "accepted");
  EXPECT_NE(refusal(Errc::invalid_model, [&] { model.output("y", x); }), "accepted");
}

TEST(ModelNames, AreTheCloneAndTheOriginalsOwnAfterwards) {
  Model model("m");
  const Value x = model.input("x", {2});
  model.linear("fc", x, 2);
  Model copy = model.clone();
  EXPECT_NE(refusal(Errc::invalid_model, [&] { copy.input("x", {2}); }), "accepted");
  copy.linear("more", copy.input("z", {2}), 2);
  model.linear("more", x, 3);
  EXPECT_EQ(copy.weight("more.bias").shape(), Shape({2}));
  EXPECT_EQ(model.weight("more.bias").shape(), Shape({3}));
}

TEST(ModelNames, OfLayersThatHaveNoneCountTheLayersOfTheirOp) {
  Model model("m");
  Value x = model.relu(model.input("x", {2}));
  x = model.linear("relu_3", model.sigmoid(x), 2);
  x = model.relu(model.relu(model.relu(x)));
  EXPECT_EQ(layers_of(model), (std::vector<std::string>{"relu_1", "sigmoid_1", "relu_3", "relu_2",
                                                        "relu_4", "relu_5"}));
}

// The test would take minutes if each name was compared with all others.
TEST(ModelNames, TakeLittleTimeHoweverManyThereAre) {
  constexpr int many = 100'000;
  Model model("m");
  const Value x = model.input("x", {1});
  Value y = x;
  for (int i = 0; i < many; ++i) {
    const std::string number = std::to_string(i);
    y = model.linear("layer " + number, y, 1);
    y = model.relu(y);
    model.input("input " + number, {1});
    model.output("output " + number, y);
  }
  for (int i = 0; i < many; ++i) {
    const auto block = model.block("block " + std::to_string(i));
    model.relu(x);
  }
  for (const ParameterInfo& info : model.parameters())
    EXPECT_EQ(model.weight(info.name).shape(), info.shape);
}

TEST(ModelNames, OfBegunBlocksTakeLittleTimeHoweverManyThereAre) {
  constexpr int many = 100'000;
  Model model("m");
  const Value x = model.relu(model.input("x", {1}));  // in a block of its own, "start"
  for (int i = 0; i < many; ++i) {
    model.begin_block("block " + std::to_string(i), i % 3);
    model.relu(x);
  }
  const graph::Graph& graph = ModelAccess::graph(model);
  ASSERT_EQ(graph.blocks.size(), many + 1U);
  for (const graph::Node& node : graph.nodes) {
    const graph::Block& block = graph.blocks[graph::index(node.block)];
    const auto number = static_cast<int>(&node - graph.nodes.data()) - 1;
    EXPECT_EQ(block.name, number < 0 ? "start" : "block " + std::to_string(number));
    EXPECT_EQ(block.ipu, number < 0 ? 0 : number % 3);
  }
}

}  // namespace
}  // namespace penstock
