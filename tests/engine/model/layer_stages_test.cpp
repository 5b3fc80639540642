// These tests check pipeline stages by number, by the rows of docs/reference.md.
#include "penstock/layer_stages.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "penstock/inference_model.hpp"
#include "penstock/json_value.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::refusal;

/// Returns a model of two branches and their sum. The second branch is written down first.
Model branches() {
  Model model("m", 7);
  const Value x = model.input("x", {4});
  const Value right = model.linear("right", x, 4), left = model.linear("left", x, 4);
  const Value sum = model.add(model.tanh(left), right);
  const Value y = model.linear("last", sum, 4);
  model.output("y", y);
  model.loss(model.mse_loss(y, x));
  return model;
}

std::string stages_of(const LayerStages& layers) {
  std::string text;
  for (const LayerStage& layer : layers)
    text += layer.layer + ":" + std::to_string(layer.stage) + " ";
  return text;
}

TEST(LayerStages, B1_AScopeIsAStageByItsNumber) {
  Model model("m");
  Value x = model.input("x", {4});
  const auto add = [&](const char* name, BlockScope) { x = model.linear(name, x, 4); };
  add("a", model.pipeline_stage(0));
  add("b", model.pipeline_stage(1));
  {
    const auto stage = model.pipeline_stage(1);
    EXPECT_EQ(
        refusal(Errc::invalid_model, [&] { (void)model.pipeline_stage(2); }),
        "model \"m\": pipeline_stage 2: block \"stage 1\" is open; its scope has to end first");
    EXPECT_EQ(refusal(Errc::invalid_model, [&] { (void)model.block("B"); }),
              "model \"m\": block \"B\": block \"stage 1\" is open; its scope has to end first");
    model.loss(model.identity_loss(x));
  }
  EXPECT_EQ(stages_of(model.stage_assignment()), "a:0 b:1 identity_loss_1:1 ");
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { (void)model.pipeline_stage(-1); }),
            "model \"m\": pipeline_stage -1: expected a stage of 0 or more, got -1");
  EXPECT_EQ(TrainingModel(model, {}).compile_report().stages.size(), 2u);
}

TEST(LayerStages, B1_StagesGoByTheirNumberNotByWhatCameFirst) {
  Model model;
  const Value x = model.input("x", {4});
  Value left, right;
  {
    const auto stage = model.pipeline_stage(1);
    right = model.linear("right", x, 4);
  }
  {
    const auto stage = model.pipeline_stage(0);
    left = model.linear("left", x, 4);
  }
  const auto stage = model.pipeline_stage(1);
  model.loss(model.mse_loss(left, right));
  const TrainingModel training(model, {});
  ASSERT_EQ(training.compile_report().stages.size(), 2u);
  EXPECT_EQ(training.compile_report().stages[0].first_layer, "left");
}

/// Returns a model with layers a and b, each in a scope of the given stage, or in no scope for -1.
Model with_stages(int a, int b) {
  Model model;
  Value x = model.input("x", {4});
  const auto add = [&](const char* name, int stage) {
    if (stage < 0) {
      x = model.linear(name, x, 4);
    } else {
      const auto scope = model.pipeline_stage(stage);
      x = model.linear(name, x, 4);
    }
  };
  add("a", a);
  add("b", b);
  model.output("y", x);
  return model;
}

TEST(LayerStages, B1_RefusesWhatIsNotAWholeAssignment) {
  const auto refused = [](const Model& model) {
    return refusal(Errc::invalid_topology, [&] { InferenceModel(model, {}); });
  };
  EXPECT_EQ(refused(with_stages(0, -1)),
            "linear \"b\" is in no pipeline stage; if one layer is given a stage, all have to be");
  EXPECT_EQ(refused(with_stages(0, 2)), "pipeline stage 2 is there, but stage 1 is not");
  EXPECT_NE(refused(with_stages(1, 0)).find("in stage 0 needs the output of"), std::string::npos);
}

TEST(LayerStages, B2_AreReadInPostOrder) {
  const Model model = branches();
  const LayerStages layers = model.stage_assignment();
  EXPECT_EQ(stages_of(layers), "left:-1 tanh_1:-1 right:-1 add_1:-1 last:-1 mse_loss_1:-1 ");
  EXPECT_EQ(layers[3].op, "add");
  EXPECT_EQ(layers[3].inputs, (std::vector<std::string>{"tanh_1", "right"}));
  EXPECT_EQ(layers[5].inputs, (std::vector<std::string>{"last", "x"}));
  EXPECT_EQ(stages_of(model.stage_assignment()), stages_of(layers));
}

TEST(LayerStages, B3_AreSetReplacedAndReset) {
  Model model = branches();
  LayerStages layers = model.stage_assignment();
  const auto set = [&](const std::vector<int>& stages) {
    for (std::size_t i = 0; i < layers.size(); ++i) layers[i].stage = stages[i];
    model.set_stage_assignment(layers);
  };
  set({0, 0, 1, 1, 2, 2});
  EXPECT_EQ(stages_of(model.stage_assignment()),
            "left:0 tanh_1:0 right:1 add_1:1 last:2 mse_loss_1:2 ");
  EXPECT_EQ(TrainingModel(model, {}).compile_report().stages.size(), 3u);
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.linear("more", model.input("z", {4}), 2); }),
            "model \"m\": linear \"more\": the layers' stages are set; reset_stage_assignment() "
            "has to come before another layer");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.relu6(model.input("w", {4})); }),
            "model \"m\": relu6: the layers' stages are set; reset_stage_assignment() has to come "
            "before another layer");
  set({0, 0, 0, 0, 1, 1});
  EXPECT_EQ(TrainingModel(model, {}).compile_report().stages.size(), 2u);
  model.reset_stage_assignment();
  EXPECT_EQ(stages_of(model.stage_assignment()), stages_of(branches().stage_assignment()));
  EXPECT_EQ(TrainingModel(model, {}).compile_report().stages.size(), 1u);
}

/// Returns a model with layers a, b and c, each in a scope of its own. The loss is in the last
/// scope.
Model three_scopes() {
  Model model("m");
  Value x = model.input("x", {4});
  const char* names[] = {"a", "b", "c"};
  for (int stage = 0; stage < 3; ++stage) {
    const auto scope = model.pipeline_stage(stage);
    x = model.linear(names[stage], x, 4);
    if (stage == 2) model.loss(model.identity_loss(x));
  }
  return model;
}

TEST(LayerStages, B3_ReplaceStagesOfScopesUntilTheyAreReset) {
  Model model = three_scopes();
  LayerStages layers = model.stage_assignment();
  for (LayerStage& layer : layers) layer.stage = layer.stage == 0 ? 0 : 1;
  model.set_stage_assignment(layers);
  EXPECT_EQ(TrainingModel(model, {}).compile_report().stages.size(), 2u);
  model.reset_stage_assignment();
  EXPECT_EQ(stages_of(model.stage_assignment()), stages_of(three_scopes().stage_assignment()));
  EXPECT_EQ(TrainingModel(model, {}).compile_report().stages.size(), 3u);
}

TEST(LayerStages, B3_ABlockThatIsCalledLikeAStageIsABlockAgainAfterAReset) {
  Model model("m");
  Value x = model.input("x", {4});
  {
    const auto block = model.block("stage 0");
    x = model.linear("a", x, 4);
  }
  const auto block = model.block("B");
  model.loss(model.identity_loss(model.linear("b", x, 4)));
  LayerStages layers = model.stage_assignment();
  for (LayerStage& layer : layers) layer.stage = 0;
  model.set_stage_assignment(layers);
  EXPECT_EQ(TrainingModel(model, {}).compile_report().stages.size(), 1u);
  model.reset_stage_assignment();
  EXPECT_EQ(TrainingModel(model, {}).compile_report().stages.size(), 2u);
}

TEST(LayerStages, B1_AreNotOverriddenByAStageRule) {
  const Model model = three_scopes();
  for (const StageRule rule : {StageRule::same_as_ipu, StageRule::auto_increment}) {
    Options options;
    options.topology.stage_rule = rule;
    EXPECT_EQ(refusal(Errc::invalid_argument, [&] { TrainingModel(model, options); }),
              "options.topology.stage_rule: expected by_block, for the model gives its layers "
              "pipeline stages by number, got " +
                  std::string(to_string(rule)));
  }
}

TEST(LayerStages, B1_AreNotOverriddenByAutomaticStages) {
  Options options;
  options.topology.automatic_stages = 2;
  Model set = branches();
  set.set_stage_assignment(split_after(set.stage_assignment(), "add_1"));
  for (const Model& model : {three_scopes(), set})
    EXPECT_EQ(refusal(Errc::invalid_argument, [&] { TrainingModel(model, options); }),
              "options.topology.automatic_stages: expected 0, for the model gives its layers "
              "pipeline stages by number, got 2");
}

// A scope that was opened while stages are set would remain after a reset, without a layer.
TEST(LayerStages, B3_LetNoScopeBeOpenedWhileTheyAreSet) {
  Model model = three_scopes();
  model.set_stage_assignment(model.stage_assignment());
  const std::string text =
      ": the layers' stages are set; reset_stage_assignment() has to come "
      "before another layer";
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { (void)model.pipeline_stage(5); }),
            "model \"m\": pipeline_stage 5" + text);
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { (void)model.block("B"); }),
            "model \"m\": block \"B\"" + text);
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.begin_block("B"); }),
            "model \"m\": begin_block \"B\"" + text);
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.begin_block_at("b", "B"); }),
            "model \"m\": begin_block_at \"b\"" + text);
  model.reset_stage_assignment();
  EXPECT_EQ(TrainingModel(model, {}).compile_report().stages.size(), 3u);
}

TEST(LayerStages, B1_ABlockIsNotOpenedInAStageAfterAnAssignmentEither) {
  Model model("m");
  Value x = model.input("x", {4});
  const auto stage = model.pipeline_stage(0);
  x = model.linear("a", x, 4);
  model.set_stage_assignment(model.stage_assignment());
  model.reset_stage_assignment();
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { (void)model.block("B"); }),
            "model \"m\": block \"B\": block \"stage 0\" is open; its scope has to end first");
}

// An assignment removes the block of a scope that has no layers any more, so that a later block of
// that name is no stage.
TEST(LayerStages, B1_ABlockIsNoStageThatOnceWasOneOfItsName) {
  Model model("m");
  Value x = model.input("x", {4});
  { const auto stage = model.pipeline_stage(1); }
  x = model.linear("a", x, 4);
  LayerStages layers = model.stage_assignment();
  layers[0].stage = 0;
  model.set_stage_assignment(layers);
  model.reset_stage_assignment();
  const auto block = model.block("stage 1");
  model.output("y", model.linear("b", x, 4));
  layers = model.stage_assignment();
  for (LayerStage& layer : layers) layer.stage = 0;
  model.set_stage_assignment(layers);
  model.reset_stage_assignment();
  EXPECT_EQ(stages_of(model.stage_assignment()), "a:-1 b:-1 ");
}

TEST(LayerStages, B3_ReplaceBlocksUntilTheyAreReset) {
  Model model = branches();
  model.begin_block_at("last", "B2");
  LayerStages layers = model.stage_assignment();
  EXPECT_EQ(layers[0].block, "start");
  EXPECT_EQ(layers[4].block, "B2");
  for (LayerStage& layer : layers) layer.stage = layer.layer == "left" ? 0 : 1;
  model.set_stage_assignment(layers);
  EXPECT_EQ(model.stage_assignment()[4].block, "stage 1");
  model.reset_stage_assignment();
  EXPECT_EQ(model.stage_assignment()[4].block, "B2");
}

struct Refusal {
  Errc code;
  void (*change)(LayerStages&);
  const char* text;
};

const Refusal refusals[] = {
    {Errc::invalid_argument, [](LayerStages& layers) { layers.pop_back(); },
     "expected the model's 6 layers, got 5"},
    {Errc::invalid_argument, [](LayerStages& layers) { std::swap(layers[0], layers[2]); },
     "expected layer \"left\" at position 0, as stage_assignment() has it, got \"right\""},
    {Errc::invalid_argument, [](LayerStages& layers) { layers[2].stage = -1; },
     "layer \"right\": expected a stage of 0 or more, got -1"},
    {Errc::invalid_topology, [](LayerStages& layers) { layers[5].stage = 2; },
     "stage 2 has layers, but stage 1 has none"},
    {Errc::invalid_topology, [](LayerStages& layers) { layers[2].stage = 1; },
     "add \"add_1\" in stage 0 needs the output of linear \"right\" in stage 1; a stage can use "
     "only what it or an earlier stage computes"},
};

TEST(LayerStages, B3_RefusedChangeNothing) {
  for (const Refusal& refused : refusals) {
    Model model = branches();
    LayerStages layers = model.stage_assignment();
    for (LayerStage& layer : layers) layer.stage = 0;
    model.set_stage_assignment(layers);
    refused.change(layers);
    EXPECT_EQ(refusal(refused.code, [&] { model.set_stage_assignment(layers); }),
              "set_stage_assignment: " + std::string(refused.text));
    EXPECT_EQ(stages_of(model.stage_assignment()),
              "left:0 tanh_1:0 right:0 add_1:0 last:0 mse_loss_1:0 ");
  }
}

TEST(LayerStages, B4_AreSplitAfterANamedLayer) {
  const LayerStages layers = branches().stage_assignment();
  const LayerStages two = split_after(layers, "add_1");
  EXPECT_EQ(stages_of(two), "left:0 tanh_1:0 right:0 add_1:0 last:1 mse_loss_1:1 ");
  EXPECT_EQ(stages_of(split_after(two, "tanh_1")),
            "left:0 tanh_1:0 right:1 add_1:1 last:2 mse_loss_1:2 ");
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { split_after(layers, "add"); }),
            "split_after: there is no layer \"add\"; did you mean \"add_1\"?");
}

TEST(LayerStages, B4_ASplitModelGivesTheSameBits) {
  const auto trained = [](const Model& model, std::size_t stages) {
    Options options{.batch_size = 2};
    options.training.gradient_accumulation = 4;
    TrainingModel training(model, options);
    EXPECT_EQ(training.compile_report().stages.size(), stages);
    training.step({testing::uniform({8, 4}, 1)});
    return model.weight("left.weight");
  };
  Model cut = branches();
  cut.set_stage_assignment(split_after(split_after(cut.stage_assignment(), "add_1"), "tanh_1"));
  const Tensor three = trained(cut, 3), one = trained(branches(), 1);
  EXPECT_TRUE(testing::same_bits(three, one));
}

TEST(LayerStages, B5_ArePrintedAsATable) {
  Model model = branches();
  model.begin_block_at("last", "B2", 3);
  model.begin_block_at("mse_loss_1", "B3");
  EXPECT_EQ(to_string(model.stage_assignment()),
            R"(layer (op)             inputs         block  IPU  stage
left (linear)          x              start  0    -
tanh_1 (tanh)          left           start  0    -
right (linear)         x              start  0    -
add_1 (add)            tanh_1, right  start  0    -
last (linear)          add_1          B2     3    -
mse_loss_1 (mse_loss)  last, x        B3     -    -
)");
}

TEST(LayerStages, B5_ArePrintedAsJson) {
  Model model = branches();
  model.set_stage_assignment(split_after(model.stage_assignment(), "add_1"));
  const JsonValue json = parse_json(to_json(model.stage_assignment()));
  ASSERT_EQ(json.items.size(), 6u);
  EXPECT_EQ(to_json(LayerStages{model.stage_assignment()[3]}),
            R"([{"layer": "add_1", "op": "add", "inputs": ["tanh_1", "right"], )"
            R"("block": "stage 0", "ipu": -1, "stage": 0}])");
  model.reset_stage_assignment();
  model.begin_block_at("add_1", "B2", 3);
  EXPECT_EQ(parse_json(to_json(model.stage_assignment())).items[3].items[4].text, "3");
}

}  // namespace
}  // namespace penstock
