// These tests check models of layers one after the other: the tutorial's dense network as a chain,
// as a graph, and in stages.
#include "penstock/sequential.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/model_access.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::refusal;

/// A Chain has a chain of six layers: 784 → 256 → 128 → 64 → 32 → 10.
struct Chain {
  Model model{"multipleIPUsequential", 4};
  Value x = model.input("x", {28, 28});
  Sequential layers{model, x};

  Chain() {
    layers.flatten();
    const std::pair<const char*, int> widths[] = {
        {"dense", 256}, {"dense_1", 128}, {"dense_2", 64}, {"dense_3", 32}};
    for (const auto& [name, units] : widths) layers.dense(name, units, Activation::relu);
    layers.dense("dense_4", 10);
    model.output("logits", layers.output());
    model.loss(model.cross_entropy(layers.output(), model.labels()));
  }
};

Model functional() {
  Model model("multipleIPUfunctional", 4);
  Value x = model.input("x", {28, 28});
  {
    const auto stage = model.pipeline_stage(0);
    x = model.relu(model.linear("dense", model.flatten(x), 256));
    x = model.relu(model.linear("dense_1", x, 128));
    x = model.relu(model.linear("dense_2", x, 64));
  }
  const auto stage = model.pipeline_stage(1);
  x = model.linear("dense_4", model.relu(model.linear("dense_3", x, 32)), 10);
  model.output("logits", x);
  model.loss(model.cross_entropy(x, model.labels()));
  return model;
}

Tensor trained(const Model& model, std::size_t stages, PipelineSchedule schedule) {
  Options options{.batch_size = 8};
  options.training.gradient_accumulation = 4;
  options.topology.schedule = schedule;
  TrainingModel training(model, options, Sgd{.learning_rate = 0.01, .momentum = 0.9});
  EXPECT_EQ(training.compile_report().stages.size(), stages);
  std::vector<std::int64_t> labels(32);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i % 10);
  for (std::uint64_t step = 0; step < 2; ++step)
    training.step({testing::uniform({32, 28, 28}, step), Tensor({32}, labels)});
  return model.weight("dense_1.weight");
}

TEST(Sequential, F7_IsTheNetworkThatAGraphOfTheSameLayersIsInAnyStagesAndSchedule) {
  const Chain plain;
  std::int64_t parameters = 0;
  for (const ParameterInfo& info : plain.model.parameters()) parameters += info.shape.elements();
  EXPECT_EQ(parameters, 244522);
  EXPECT_EQ(plain.layers.size(), 6U);
  const Tensor expected = trained(plain.model, 1, PipelineSchedule::grouped);
  for (const PipelineSchedule schedule :
       {PipelineSchedule::grouped, PipelineSchedule::interleaved, PipelineSchedule::sequential}) {
    Chain cut;
    cut.layers.set_stages({0, 0, 1, 1, 1, 1});
    const Tensor chain = trained(cut.model, 2, schedule);
    const Tensor graph = trained(functional(), 2, schedule);
    EXPECT_TRUE(testing::same_bits(chain, expected)) << to_string(schedule);
    EXPECT_TRUE(testing::same_bits(graph, expected)) << to_string(schedule);
  }
}

TEST(Sequential, B3_TakesAStageForEachLayerAndPutsTheLossIntoTheLast) {
  Chain chain;
  EXPECT_EQ(chain.layers.stages(), (std::vector<int>(6, -1)));
  chain.layers.set_stages({0, 0, 1, 1, 1, 1});
  EXPECT_EQ(chain.layers.stages(), (std::vector<int>{0, 0, 1, 1, 1, 1}));
  const LayerStages layers = chain.model.stage_assignment();
  EXPECT_EQ(layers.back().stage, 1);
  EXPECT_EQ(layers[2].layer + std::to_string(layers[2].stage), "relu_10");
  EXPECT_NE(refusal(Errc::invalid_model, [&] { chain.layers.dense("more", 2); }), "accepted");
  EXPECT_EQ(chain.layers.size(), 6U);
  chain.model.reset_stage_assignment();
  EXPECT_EQ(chain.layers.stages(), (std::vector<int>(6, -1)));
}

TEST(Sequential, B3_RefusesStagesThatAreNoneAndChangesNothing) {
  const std::pair<std::vector<int>, const char*> cases[] = {
      {{0, 0, 1}, "expected a stage for each of 6 layers, got 3"},
      {{1, 1, 1, 1, 1, 1}, "expected stage 0 for the first layer, got 1"},
      {{0, 0, 2, 2, 2, 2}, "expected stage 0 or 1 for layer 2 (from 0), got 2"},
      {{0, 1, 0, 1, 1, 1}, "expected stage 1 or 2 for layer 2 (from 0), got 0"}};
  Chain chain;
  for (const auto& [stages, text] : cases)
    EXPECT_EQ(refusal(Errc::invalid_argument, [&] { chain.layers.set_stages(stages); }),
              std::string("set_stages: ") + text);
  EXPECT_EQ(chain.layers.stages(), (std::vector<int>(6, -1)));
}

TEST(Sequential, B5_IsPrintedWithItsStages) {
  Chain chain;
  chain.layers.set_stages({0, 0, 1, 1, 1, 1});
  EXPECT_EQ(to_string(chain.layers), R"(layer (ops)             stage
flatten_1 (flatten)     0
dense (linear, relu)    0
dense_1 (linear, relu)  1
dense_2 (linear, relu)  1
dense_3 (linear, relu)  1
dense_4 (linear)        1
)");
  chain.model.reset_stage_assignment();
  EXPECT_NE(to_string(chain.layers).find("dense_4 (linear)        -\n"), std::string::npos);
}

TEST(Sequential, B5_IsPrintedAsJson) {
  Model model("m");
  Sequential chain(model, model.input("x", {4}));
  chain.dense("fc", 2, Activation::relu).add([](Model&, Value x) { return x; });
  EXPECT_EQ(to_json(chain), R"([{"layer": "fc", "ops": ["linear", "relu"], "stage": -1}, )"
                            R"({"layer": "", "ops": [], "stage": -1}])");
}

TEST(Sequential, IsAsItWasWithItsModelWhereALayerThrows) {
  Model model("m");
  const Value x = model.input("x", {4});
  Sequential chain(model, x);
  chain.dense("first", 4);
  const std::string layers = to_string(model.stage_assignment());
  Value lost;
  const auto add = [&](bool fails) {
    chain.add([&](Model& m, Value last) {
      m.begin_block("B", 2);
      lost = m.add(m.linear("p", m.recomputation_checkpoint(last), 4), m.input("z", {4}));
      const auto block = m.block();
      m.output("y", m.relu(lost));
      m.loss(m.identity_loss(lost));
      if (fails) throw Error(Errc::invalid_argument, "no");
      return lost;
    });
  };
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { add(true); }), "no");
  EXPECT_EQ(chain.size(), 1U);
  EXPECT_EQ(to_string(model.stage_assignment()), layers);
  EXPECT_EQ(model.parameters().size(), 2U);
  EXPECT_TRUE(std::ranges::none_of(ModelAccess::graph(model).values, &graph::Value::checkpoint));
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.relu(lost); }),
            "relu: expected a value of model \"m\", got one of a layer that was taken back");
  add(false);
  EXPECT_EQ(to_string(model.stage_assignment()),
            R"(layer (op)                       inputs  block  IPU  stage
first (linear)                   x       start  0    -
p (linear)                       first   B      2    -
add_1 (add)                      p, z    B      2    -
relu_1 (relu)                    add_1   0      -    -
identity_loss_1 (identity_loss)  add_1   0      -    -
)");
  EXPECT_EQ(model.parameters().size(), 4U);
  Model other("other");
  EXPECT_NE(refusal(Errc::invalid_model,
                    [&] {
                      chain.add([&](Model& m, Value last) {
                        m.linear("q", last, 4);
                        return other.input("x", {4});
                      });
                    }),
            "accepted");
  EXPECT_EQ(model.parameters().size(), 4U);
}

/// Adds a layer to `chain` whose function adds two layers to `chain` itself, and then perhaps
/// fails.
void add_nested(Sequential& chain, bool fails) {
  chain.add([&](Model& m, Value x) {
    chain.dense("inner", 3).dropout("drop", 0.5);
    if (fails) throw Error(Errc::invalid_argument, "no");
    return m.add(m.linear("beside", x, 3), chain.output());
  });
}

TEST(Sequential, IsAsItWasWhereALayerThatAddsToItThrows) {
  Model model("m");
  Sequential chain(model, model.input("x", {4}));
  chain.dense("first", 4);
  const std::string before = to_json(chain);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { add_nested(chain, true); }), "no");
  EXPECT_EQ(to_json(chain), before);
  EXPECT_EQ(chain.size(), 1U);
  chain.dense("next", 2);  // The value that this layer takes as its input still exists.
  EXPECT_EQ(chain.stages(), (std::vector<int>{-1, -1}));
}

// If stages were set inside the function, they could be for other layers than the chain has in the
// end.
TEST(Sequential, RefusesStagesInsideTheFunctionOfALayer) {
  Model model("m");
  const Value x = model.input("x", {4});
  Sequential chain(model, x), other(model, x);
  const auto nothing = [](Model&, Value last) { return last; };
  other.add(nothing);
  const std::string refused =
      "model \"m\": Sequential::set_stages cannot begin, for it was called from inside the "
      "function "
      "of a layer, which may yet be taken back; call it when the layer has been added";
  chain.add([&](Model&, Value) {
    chain.dense("a", 4).dense("b", 4).dense("c", 4);
    EXPECT_EQ(refusal(Errc::busy, [&] { chain.set_stages({0, 0, 0}); }), refused);
    EXPECT_EQ(refusal(Errc::busy, [&] { other.set_stages({0}); }), refused);
    return chain.output();
  });
  EXPECT_EQ(chain.stages(), (std::vector<int>{-1}));
  EXPECT_EQ(other.stages(), (std::vector<int>{-1}));
  chain.set_stages({0});
  EXPECT_EQ(chain.stages(), (std::vector<int>{0})) << "the layer is there, and stages can be set";
}

/// Adds a layer to `chain` whose function calls `inside` and then fails.
void add_failing(Sequential& chain, const std::function<void()>& inside) {
  EXPECT_THROW(chain.add([&](Model&, Value) -> Value {
    inside();
    throw 7;
  }),
               int);
}

TEST(Sequential, LosesWhatTheFailedLayerOfAnotherChainAddedToIt) {
  const auto nothing = [](Model&, Value last) { return last; };
  Model model("m");
  const Value x = model.input("x", {4});
  Sequential failing(model, x), chain(model, x);
  chain.dense("first", 3).add(nothing);
  chain.set_stages({0, 0});
  model.reset_stage_assignment();
  const std::string before = to_json(chain);
  add_failing(failing, [&] {
    chain.dense("a", 4);
    add_failing(failing, [&] { chain.dense("b", 5); });
    EXPECT_EQ(chain.size(), 3U) << "what was added before the inner layer may stay";
    failing.add([&](Model&, Value last) {
      chain.add(nothing).dense("c", 6);
      return last;
    });
    EXPECT_EQ(chain.size(), 5U);
  });
  EXPECT_EQ(chain.size(), 2U);
  EXPECT_EQ(to_json(chain), before);
  EXPECT_EQ(model.shape(chain.output()), (Shape{1, 3}));
  chain.dense("next", 2);
  EXPECT_EQ(chain.layers().back().layer, "next");
  chain.set_stages({0, 0, 1});
  EXPECT_EQ(chain.stages(), (std::vector<int>{0, 0, 1}));
}

TEST(Sequential, IsBehindItsOtherLayersAgainWhenALayerThatComputesNothingWasTakenBack) {
  const auto nothing = [](Model&, Value last) { return last; };
  Model model("m");
  const Value x = model.input("x", {4});
  Sequential failing(model, x), chain(model, x);
  add_failing(failing, [&] { chain.add(nothing).add(nothing); });
  EXPECT_EQ(chain.size(), 0U);
  EXPECT_EQ(model.shape(chain.output()), (Shape{1, 4}));
  EXPECT_TRUE(chain.layers().empty());
}

TEST(Sequential, LosesWhatWasTakenBackInItsCopiesToo) {
  Model model("m");
  const Value x = model.input("x", {4});
  Sequential chain(model, x);
  chain.dense("first", 3);
  const std::string before = to_json(chain);
  Sequential copy = chain, beginning = chain;
  add_failing(chain, [&] {
    chain.dense("inner", 5);
    copy = chain;
    beginning = Sequential(model, chain.output());
    beginning.dense("behind", 2);
    EXPECT_EQ(copy.size(), 2U);
  });
  EXPECT_EQ(to_json(copy), before);
  EXPECT_EQ(to_json(chain), before);
  model.linear("other", x, 7);  // This layer takes the place of the layer that was taken back.
  EXPECT_EQ(to_json(copy), before);
  EXPECT_EQ(model.shape(copy.output()), (Shape{1, 3}));
  copy.dense("next", 2);
  EXPECT_EQ(copy.layers().back().layer, "next");
  EXPECT_EQ(beginning.size(), 0U);
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { beginning.dense("again", 2); }),
            "linear \"again\": expected a value of model \"m\", got one of a layer that was taken "
            "back");
}

TEST(Sequential, KeepsWhatALayerAddedToOtherChainsWhenItSucceeded) {
  Model model("m");
  const Value x = model.input("x", {4});
  Sequential chain(model, x), other(model, x);
  chain.add([&](Model&, Value last) {
    other.dense("a", 4);
    return last;
  });
  add_failing(chain, [&] { other.dense("b", 5); });
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other.layers()[0].layer, "a");
  EXPECT_EQ(chain.size(), 1U);
}

TEST(Sequential, MakesValuesThatAreNoOtherLayersWhenTheirLayerWasTakenBack) {
  Model model("m");
  const Value x = model.input("x", {4});
  Sequential chain(model, x);
  chain.dense("first", 4);
  std::vector<Value> lost;
  Value kept;
  add_failing(chain, [&] {
    const Value input = model.input("z", {4});
    const Value hidden = model.linear("fc", input, 4);
    lost = {input, hidden, model.parameter("fc.weight"), model.relu(hidden)};
    kept = model.parameter("first.weight");
  });
  const Value input = model.input("z", {4});
  const Value hidden = model.linear("other", input, 4);
  model.relu(model.relu(hidden));
  for (const Value& value : lost) {
    EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.relu(value); }),
              "relu: expected a value of model \"m\", got one of a layer that was taken back");
    EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.output("y", value); }),
              "output \"y\": expected a value of model \"m\", got one of a layer that was taken "
              "back");
  }
  EXPECT_EQ(model.shape(model.linear(hidden, kept)), (Shape{1, 4})) << "that one's layer is there";
  EXPECT_EQ(model.shape(hidden), (Shape{1, 4}));
}

TEST(Sequential, CountsWhatALayerAddsToItAsPartOfThatLayer) {
  Model model("m");
  Sequential chain(model, model.input("x", {4}));
  chain.dense("first", 4);
  add_nested(chain, false);
  chain.dense("last", 2);
  const std::vector<ChainLayer> layers = chain.layers();
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(layers[1].ops, (std::vector<std::string>{"linear", "dropout", "linear", "add"}));
  EXPECT_EQ(layers[2].ops, (std::vector<std::string>{"linear"}));
  chain.set_stages({0, 1, 2});
  std::string stages;
  for (const LayerStage& layer : model.stage_assignment())
    stages += layer.layer + std::to_string(layer.stage) + ' ';
  EXPECT_EQ(stages, "first0 inner1 drop1 beside1 add_11 last2 ");
}

TEST(Sequential, TakesLayersOfOnesOwn) {
  Model model("m");
  Sequential chain(model, model.input("x", {4}));
  chain.dropout("drop", 0.5)
      .add([](Model& m, Value x) { return m.scale(m.add(x, x), 0.5); })
      .dense("fc", 2, Activation::softmax);
  EXPECT_EQ(model.shape(chain.output()), (Shape{1, 2}));
  Model other("other");
  EXPECT_NE(refusal(Errc::invalid_model, [&] { Sequential(other, chain.output()); }), "accepted");
}

TEST(Sequential, B3_KeepsTheStageOfALayerThatComputesNothingWhileTheOthersHold) {
  const auto nothing = [](Model&, Value x) { return x; };
  Model model("m");
  Sequential chain(model, model.input("x", {4}));
  chain.add(nothing).dense("a", 4).add(nothing).dense("b", 2).add(nothing);
  EXPECT_EQ(chain.stages(), (std::vector<int>(5, -1)));
  chain.set_stages({0, 0, 0, 1, 1});
  EXPECT_EQ(chain.stages(), (std::vector<int>{0, 0, 0, 1, 1}));
  chain.add(nothing);
  EXPECT_EQ(chain.stages(), (std::vector<int>{0, 0, 0, 1, 1, -1}));
  LayerStages others = model.stage_assignment();
  for (LayerStage& layer : others) layer.stage = 0;
  model.set_stage_assignment(others);
  EXPECT_EQ(chain.stages(), (std::vector<int>{-1, 0, -1, 0, -1, -1}));
  model.reset_stage_assignment();
  EXPECT_EQ(chain.stages(), (std::vector<int>(6, -1)));
}

TEST(Sequential, RefusesALayerOfAnotherModelAndGoesOn) {
  Model model("m"), other("other");
  const Value foreign = other.input("x", {4});
  Sequential chain(model, model.input("x", {4}));
  chain.dense("a", 4);
  EXPECT_EQ(
      refusal(Errc::invalid_model, [&] { chain.add([&](Model&, Value) { return foreign; }); }),
      "layer 1 (from 0): expected a value of model \"m\", got one of another model");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { chain.add([](Model&, Value) { return Value(); }); }),
            "layer 1 (from 0): expected a value of model \"m\", got one of no model");
  EXPECT_EQ(chain.size(), 1U);
  chain.dense("b", 2);
  EXPECT_EQ(model.shape(chain.output()), (Shape{1, 2}));
}

TEST(Sequential, LetsNobodyCompileRunOrCopyALayerThatMayYetBeTakenBack) {
  Model model("m");
  const Value x = model.input("x", {4});
  Sequential chain(model, x);
  chain.dense("fc", 2);
  model.output("y", chain.output());
  model.loss(model.cross_entropy(chain.output(), model.labels()));
  const std::vector<Tensor> samples{testing::uniform({4, 4}, 1),
                                    Tensor({4}, std::vector<std::int64_t>(4, 1))};
  Options options{.batch_size = 4};
  TrainingModel training(model, options, Sgd{.learning_rate = 0.1});
  InferenceModel serving(model, options);
  training.step(samples);
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"TrainingModel::step", [&] { training.step(samples); }},
      {"TrainingModel::buffer", [&] { training.buffer("more.weight", 0); }},
      {"InferenceModel::run", [&] { serving.run(std::span(samples).first(1)); }},
      {"the constructor of a TrainingModel", [&] { TrainingModel(model, options, Sgd{}); }},
      {"the constructor of an InferenceModel", [&] { InferenceModel(model, options); }},
      {"Model::clone", [&] { model.clone(); }}};
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    const auto add = [&] {
      chain.add([&](Model& m, Value last) {
        m.linear("more", last, 2);
        EXPECT_EQ(refusal(Errc::busy, call),
                  std::string("model \"m\": ") + name +
                      " cannot begin, for it was called from inside the function of a layer, which "
                      "may yet be taken back; call it when the layer has been added");
        throw 7;
        return last;
      });
    };
    EXPECT_THROW(add(), int);
    EXPECT_EQ(model.parameters().size(), 2U);
    EXPECT_TRUE(model.weight("fc.weight")) << "the newest ones can be read";
    EXPECT_NO_THROW(training.step(samples)) << "the model goes on";
  }
  EXPECT_EQ(training.updates(), 1U + std::size(calls));
}

/// Makes a step inside the function of a layer. The step's log drops the samples and then makes a
/// call that is refused. Returns whether the samples could have been released by then, which the
/// call must not do.
bool releases_nothing_when_refused() {
  Model model("m");
  const Value x = model.input("x", {4});
  Sequential chain(model, x);
  chain.dense("fc", 2);
  model.loss(model.cross_entropy(chain.output(), model.labels()));
  std::vector<Tensor> samples{testing::uniform({4, 4}, 1),
                              Tensor({4}, std::vector<std::int64_t>(4, 1))};
  int released = 0, when_refused = 0, after = 0;
  std::optional<TrainingModel> training;
  bool armed = false;
  Options options{.batch_size = 4};
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [&](std::string_view) {
    if (!std::exchange(armed, false)) return;
    samples.clear();
    EXPECT_TRUE(model.weight("fc.weight")) << "the threads have answered since they were done";
    chain.add([&](Model&, Value last) {
      EXPECT_NE(refusal(Errc::busy, [&] { training->stage_reports(); }), "accepted");
      return last;
    });
    when_refused = released;
    training->stage_reports();
    after = released;
  };
  training.emplace(model, options, Sgd{});
  const auto release = [&, kept = samples[0]](const std::byte*) { ++released; };
  samples[0] = Tensor::wrap(samples[0].dtype(), samples[0].shape(),
                            std::shared_ptr<const std::byte>(samples[0].raw(), release));
  armed = true;
  training->step(samples);
  EXPECT_EQ(when_refused, 0);
  EXPECT_EQ(released, 1);
  return after == 1;
}

TEST(Sequential, ReleasesNoSamplesInACallThatALayerIsRefused) {
  for (int attempts = 0; !releases_nothing_when_refused(); ++attempts) ASSERT_LT(attempts, 1000);
}

}  // namespace
}  // namespace penstock
