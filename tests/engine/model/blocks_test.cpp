// These tests check the ways to say which block a layer belongs to, by the rows of
// docs/reference.md.
#include <gtest/gtest.h>

#include "engine/model/model_access.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::refusal;

/// Returns a text such as "layer:block@ipu layer:block" of every layer, in the model's order.
std::string blocks_of(const Model& model) {
  const graph::Graph& graph = ModelAccess::graph(model);
  std::string text;
  for (const graph::Node& node : graph.nodes) {
    text += (text.empty() ? "" : " ") + node.name + ":";
    if (node.block == graph::none) continue;
    const graph::Block& block = graph.blocks[graph::index(node.block)];
    text += block.name + (block.ipu == graph::none ? "" : "@" + std::to_string(block.ipu));
  }
  return text;
}

std::vector<std::string> names_of_blocks(const Model& model) {
  std::vector<std::string> names;
  for (const graph::Block& block : ModelAccess::graph(model).blocks) names.push_back(block.name);
  return names;
}

TEST(Blocks, A2_WithoutANameAreNumberedAndNamedOnesTakeNoNumber) {
  Model model;
  Value x = model.input("x", {4});
  const auto add = [&](const char* name, BlockScope) { x = model.linear(name, x, 4); };
  add("a", model.block());
  add("b", model.block("named"));
  add("c", model.block());
  add("d", model.block("1"));
  {
    const auto stage = model.pipeline_stage(0);
    EXPECT_NE(refusal(Errc::invalid_model, [&] { (void)model.block(); }), "accepted");
  }
  add("e", model.block());
  EXPECT_EQ(blocks_of(model), "a:0 b:named c:1 d:1 e:2");
  Model next;
  const auto block = next.block();
  next.linear("a", next.input("x", {4}), 4);
  EXPECT_EQ(blocks_of(next), "a:0");
}

TEST(Blocks, A3_WithoutAScopeLastUntilTheNext) {
  Model model;
  Value x = model.input("x", {4});
  model.begin_block("B1", 3);
  x = model.linear("b", model.linear("a", x, 4), 4);
  model.begin_block("B2");
  x = model.linear("c", x, 4);
  model.begin_block("B1");
  model.loss(model.identity_loss(x));
  EXPECT_EQ(blocks_of(model), "a:B1@3 b:B1@3 c:B2 identity_loss_1:B1@3");
}

/// A4 of docs/reference.md: where a decorator marks a function in PopTorch, the first line of the
/// function opens a block here.
Value dense(Model& model, const std::string& block, const std::string& name, Value x,
            int ipu = -1) {
  const auto scope = model.block(block, ipu);
  return model.relu(model.linear(name, x, 4));
}

TEST(Blocks, A4_OfAFunctionAreAScopeInIt) {
  Model model;
  dense(model, "B2", "b", dense(model, "B1", "a", model.input("x", {4})));
  EXPECT_EQ(blocks_of(model), "a:B1 relu_1:B1 b:B2 relu_2:B2");
}

/// Returns a model with layers that are named as in an imported network, and a loss.
Model stock() {
  Model model("stock", 2);
  Value x = model.input("x", {4});
  const Value target = model.input("target", {4});
  for (const char* name : {"stem", "layer1.0.fc", "layer1.1.fc", "layer2.0.fc", "fc"})
    x = model.linear(name, x, 4);
  model.loss(model.mse_loss(x, target));
  return model;
}

TEST(Blocks, A5_BeginAtALayerOfAFinishedModelAndReachToTheLoss) {
  Model model = stock();
  model.begin_block_at("layer2", "B2", 1);
  EXPECT_EQ(blocks_of(model),
            "stem:start@0 layer1.0.fc:start@0 layer1.1.fc:start@0 layer2.0.fc:B2@1 fc:B2@1 "
            "mse_loss_1:B2@1");
  const Model copy = model;
  EXPECT_EQ(blocks_of(copy), blocks_of(model));
}

TEST(Blocks, A5_MayBeMarkedInAnyOrder) {
  Model model = stock();
  model.begin_block_at("fc", "B3");
  model.begin_block_at("stem", "B1");
  model.begin_block_at("layer1", "B2");
  EXPECT_EQ(blocks_of(model),
            "stem:B1 layer1.0.fc:B2 layer1.1.fc:B2 layer2.0.fc:B2 fc:B3 mse_loss_1:B3");
  EXPECT_EQ(names_of_blocks(model), (std::vector<std::string>{"B3", "B1", "B2"}));
}

TEST(Blocks, A5_BeginAtTheLayerOfThatNameBeforeOneWhoseNameGoesOn) {
  Model model;
  model.linear("fc", model.linear("fc.1", model.input("x", {4}), 4), 4);
  model.begin_block_at("fc", "B");
  EXPECT_EQ(blocks_of(model), "fc.1:start@0 fc:B");
}

TEST(Blocks, A5_MarksCanBeRemoved) {
  Model model = stock();
  const std::string before = blocks_of(model);
  model.begin_block_at("layer2", "B2");
  model.begin_block_at("layer1", "B1");
  model.remove_block_marks();
  EXPECT_EQ(blocks_of(model), before);
  EXPECT_TRUE(names_of_blocks(model).empty());
  model.begin_block_at("layer2", "again");
  EXPECT_EQ(names_of_blocks(model), (std::vector<std::string>{"again", "start"}));
}

TEST(Blocks, A5_RemovalTakesTheIpusBackThatMarksSaid) {
  Model model;
  Value x = dense(model, "start", "a", model.input("x", {4}));
  x = dense(model, "B2", "b", x);
  model.linear("d", model.linear("c", x, 4), 4);
  model.begin_block_at("d", "B2", 3);
  EXPECT_EQ(blocks_of(model), "a:start@0 relu_1:start@0 b:B2@3 relu_2:B2@3 c:start@0 d:B2@3");
  model.remove_block_marks();
  EXPECT_EQ(blocks_of(model), "a:start relu_1:start b:B2 relu_2:B2 c: d:");
  model.begin_block_at("c", "B2", 2);
  EXPECT_EQ(blocks_of(model), "a:start relu_1:start b:B2@2 relu_2:B2@2 c:B2@2 d:B2@2");
}

TEST(Blocks, A5_RemovalLeavesTheOtherStyles) {
  Model model;
  Value x = model.input("x", {4});
  x = model.linear("a", x, 4);
  model.begin_block("B2");
  x = model.linear("c", model.linear("b", x, 4), 4);
  x = dense(model, "B3", "d", x);
  model.begin_block_at("a", "B1");
  model.begin_block_at("c", "marked");
  EXPECT_EQ(blocks_of(model), "a:B1 b:B2 c:marked d:B3 relu_1:B3");
  model.remove_block_marks();
  EXPECT_EQ(blocks_of(model), "a:start@0 b:B2 c:B2 d:B3 relu_1:B3");
  model.linear("e", x, 4);
  EXPECT_EQ(blocks_of(model), "a:start@0 b:B2 c:B2 d:B3 relu_1:B3 e:B2");
}

TEST(Blocks, A6_StylesMix) {
  Model model;
  Value x = model.input("x", {4});
  model.begin_block("B1", 0);
  x = dense(model, "B2", "b", model.linear("a", x, 4));
  x = model.linear("c", x, 4);
  {
    const auto numbered = model.block();
    x = dense(model, "B2", "d", model.linear("e", x, 4));
  }
  x = model.linear("f", x, 4);
  model.begin_block_at("f", "B3", 1);
  model.begin_block("B1");
  model.linear("g", x, 4);
  EXPECT_EQ(blocks_of(model), "a:B1@0 b:B2 relu_1:B2 c:B1@0 e:0 d:B2 relu_2:B2 f:B3@1 g:B1@0");
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { model.begin_block_at("e", "B1", 2); }),
            "model \"model\": block \"B1\": expected IPU 0 as before, got 2");
}

TEST(Blocks, RefusedLeaveEverythingAsItWas) {
  Model model = stock();
  model.begin_block_at("layer1", "B1");
  const std::string before = blocks_of(model);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { model.begin_block_at("layer", "B2"); }),
            "model \"stock\": begin_block_at \"layer\": there is no layer of that name; did you "
            "mean \"layer1.0.fc\"?");
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { model.begin_block_at("layer1.0", "B2"); }),
            "model \"stock\": begin_block_at \"layer1.0\": block \"B1\" begins there already");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.begin_block_at("fc", ""); }),
            "model \"stock\": block: expected a name, got \"\"");
  {
    const auto scope = model.block("scope");
    EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.begin_block("B2"); }),
              "model \"stock\": begin_block \"B2\": block \"scope\" is open; its scope has to end "
              "first");
    EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.begin_block_at("fc", "B2"); }),
              "model \"stock\": begin_block_at \"fc\": block \"scope\" is open; its scope has to "
              "end first");
  }
  EXPECT_EQ(blocks_of(model), before);
}

TEST(Blocks, RefusedForTheFirstLayersBlockLeaveEverythingAsItWas) {
  Model model("m");
  const Value x = model.linear("a", model.input("x", {4}), 4);
  {
    const auto elsewhere = model.block("start", 1);
    model.output("y", model.linear("b", x, 4));
  }
  const std::string before = blocks_of(model);
  const std::string text =
      "model \"m\": block \"start\": expected IPU 0, for it has the layers before the first begun "
      "block (\"a\" is one), got 1; begin a block at \"a\", or give the one on IPU 1 another name";
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { model.begin_block("B", 0); }), text);
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { model.begin_block_at("b", "B", 0); }), text);
  EXPECT_EQ(blocks_of(model), before);
  model.begin_block_at("a", "B", 2);  // The refused calls have not put block "B" on IPU 0.
  model.begin_block("C");
  const std::string marked = blocks_of(model);
  EXPECT_EQ(marked, "a:B@2 b:start@1");
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { model.remove_block_marks(); }), text);
  model.set_stage_assignment(split_after(model.stage_assignment(), "a"));
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { model.remove_block_marks(); }), text);
  model.reset_stage_assignment();
  EXPECT_EQ(blocks_of(model), marked);
}

TEST(Blocks, RefusedOnAnotherIpuThanTheFirstLayersSayWhy) {
  Model model("m");
  const Value x = model.linear("a", model.input("x", {4}), 4);
  model.begin_block("B");
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { dense(model, "start", "b", x, 1); }),
            "model \"m\": block \"start\": expected IPU 0, for it has the layers before the first "
            "begun block (\"a\" is one), got 1; begin a block at \"a\", or give the one on IPU 1 "
            "another name");
}

TEST(Blocks, A5_CutAFinishedModelIntoStagesOfTheSameBits) {
  const std::vector<Tensor> samples{testing::uniform({8, 4}, 1), testing::uniform({8, 4}, 2)};
  const auto trained = [&](const Model& model, std::size_t stages) {
    Options options{.batch_size = 2};
    options.training.gradient_accumulation = 4;
    TrainingModel training(model, options);
    EXPECT_EQ(training.compile_report().stages.size(), stages);
    training.step(samples);
    return model.weight("stem.weight");
  };
  const Tensor whole = trained(stock(), 1);
  Model marked = stock();
  marked.begin_block_at("layer2", "B3");
  marked.begin_block_at("layer1", "B2");
  const Tensor cut = trained(marked, 3);
  EXPECT_TRUE(testing::same_bits(cut, whole));
}

/// Returns a model with layers on IPUs 0, 1 and 2, and another layer on IPU 1 in the block of the
/// second layer.
Model to_and_fro() {
  Model model("m", 3);
  Value x = model.input("x", {4});
  const auto add = [&](const std::string& block, int ipu, const std::string& name) {
    const auto scope = model.block(block, ipu);
    x = model.tanh(model.linear(name, x, 4));
    if (name == "d") model.loss(model.identity_loss(model.mul(x, x)));
  };
  add("B1", 0, "a");
  add("B2", 1, "b");
  add("B3", 2, "c");
  add("B2", 1, "d");
  return model;
}

/// Returns a text such as "A@0 B@1 ", with each stage's first block and its IPU.
std::string stages_of(const CompileReport& report) {
  std::string stages;
  for (const StagePlanReport& stage : report.stages)
    stages += stage.blocks.at(0) + "@" + std::to_string(stage.ipu) + " ";
  return stages;
}

TEST(Blocks, A10_AnIpuRevisitedMakesFourStagesOfTheBitsOfOne) {
  const auto trained = [&](const Model& model, const Topology& topology) {
    Options options{.batch_size = 2};
    options.training.gradient_accumulation = 4;
    options.topology = topology;
    TrainingModel training(model, options);
    training.step({testing::uniform({8, 4}, 1)});
    return std::pair(stages_of(training.compile_report()), model.weight("a.weight"));
  };
  const auto [four_stages, four] = trained(to_and_fro(), {.stage_rule = StageRule::auto_increment});
  const auto [one_stage, one] =
      trained(to_and_fro(), {.stages = {{"B1", "B2", "B3"}}, .ipus = {0}});
  EXPECT_EQ(four_stages, "B1@0 B2@1 B3@2 B2 (2)@1 ");
  EXPECT_EQ(one_stage, "B1@0 ");
  EXPECT_TRUE(testing::same_bits(four, one));
  EXPECT_NE(refusal(Errc::invalid_topology,
                    [&] { trained(to_and_fro(), {.stage_rule = StageRule::same_as_ipu}); })
                .find("in stage 1 needs the output of"),
            std::string::npos);
}

// Layers that only the loss needs have no work in inference. The other stages keep the IPUs that
// they have in training.
TEST(Blocks, A10_ThatComeBackAreTheStagesOfTrainingInInferenceToo) {
  Model model("m");
  Value x = model.input("x", {4});
  const auto add = [&](const char* block, const char* layer) {
    const auto scope = model.block(block);
    return model.linear(layer, x, 4);
  };
  x = add("A", "a");
  const Value auxiliary = add("L", "l");
  x = add("B", "b");
  model.output("y", x);
  x = add("A", "head");
  {
    const auto scope = model.block("A");
    model.loss(model.identity_loss(model.add(x, auxiliary)));
  }
  Options options;
  options.topology.stage_rule = StageRule::auto_increment;
  EXPECT_EQ(stages_of(TrainingModel(model, options).compile_report()), "A@0 L@1 B@2 A (2)@3 ");
  const InferenceModel inference(model, options);
  EXPECT_EQ(stages_of(inference.compile_report()), "A@0 B@2 ");
  const std::vector<std::string>& warnings = inference.compile_report().warnings;
  ASSERT_FALSE(warnings.empty());
  EXPECT_EQ(warnings[0], "stage 3 (\"A (2)\") has nothing to compute in inference and is left out");
  options.topology.ipus = {4, 5, 6, 7};
  EXPECT_EQ(stages_of(InferenceModel(model, options).compile_report()), "A@4 B@6 ");
}

}  // namespace
}  // namespace penstock
