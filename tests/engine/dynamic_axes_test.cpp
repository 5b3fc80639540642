// These tests pass inputs of several lengths to one model, and compare it bit by bit with models
// that were declared with each length.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "penstock/fit.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/sequential.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t longest = 7, kinds = 5, width = 8;

/// Returns a network for sequences of `length` tokens with a block of attention, which may be cut
/// into two stages. If `shortest` is not 0, sequences may be that short.
Model network(std::int64_t length, std::int64_t shortest = 0) {
  Model model("reader", 4);
  const Value tokens = model.input("tokens", {length}, DType::i64);
  const Value next = model.input("next", {length}, DType::i64);
  if (shortest > 0)
    for (const Value& input : {tokens, next}) model.dynamic_axis(input, -1, shortest);
  Value x;
  {
    const auto block = model.block("first");
    x = model.dropout("drop", model.embedding("embed", tokens, kinds, width), 0.25);
    x = x + model.attention(model.linear("qkv", x, 3 * width), {.heads = 2, .causal = true});
  }
  const auto block = model.block("second");
  const Value logits = model.linear("head", model.layer_norm("norm", x, 1), kinds);
  const Value loss = model.cross_entropy(logits, next, {.class_axis = -1});
  model.output("logits", logits);
  model.output("loss", loss);
  model.loss(loss);
  return model;
}

std::vector<Tensor> sequences(std::int64_t count, std::int64_t length) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(count * length)), next;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<std::int64_t>(i * i / 2 + i) % kinds;
  next = tokens;
  std::ranges::reverse(next);
  return {Tensor({count, length}, tokens), Tensor({count, length}, next)};
}

struct Case {
  std::string name;
  Options options;
};

/// Returns topologies for calls of four samples.
std::vector<Case> cases() {
  Case one{"one stage", {.batch_size = 2}}, two{"two stages", {.batch_size = 2}};
  Case replicas{"two replicas", {.batch_size = 1}};
  for (Case* const each : {&one, &two, &replicas}) {
    each->options.training.gradient_accumulation = 2;
    each->options.runtime.threads = 2;
  }
  two.options.topology.stages = parse_stages("first|second");
  two.options.training.recompute = true;
  two.options.training.offload.optimizer_state.on = true;
  replicas.options.topology.replication_factor = 2;
  replicas.options.training.sharding.optimizer_state = {.on = true, .minimum_elements = 2};
  return {one, two, replicas};
}

void copy_weights(const Model& from, Model& to) {
  for (const ParameterInfo& info : from.parameters())
    to.set_weight(info.name, from.weight(info.name));
}

TEST(DynamicAxes, InferTheBitsOfAModelOfEachLength) {
  for (auto& [name, options] : cases()) {
    options.device_iterations = 2;
    InferenceModel model(network(longest, 1), options);
    for (const std::int64_t length :
         {longest, std::int64_t{1}, std::int64_t{3}, longest, std::int64_t{3}}) {
      const auto data = sequences(4, length);
      InferenceModel fixed(network(length), options);
      const StepResult result = model.run(data), expected = fixed.run(data);
      EXPECT_EQ(result.output("logits").shape(), (Shape{4, length, kinds}));
      EXPECT_TRUE(same_bits(result.output("logits"), expected.output("logits")))
          << name << ", length " << length;
    }
  }
}

TEST(DynamicAxes, TrainAsModelsOfEachLengthThatHandOverTheirState) {
  for (auto& [name, options] : cases()) {
    SCOPED_TRACE(name);
    const Optimizer optimizer = AdamW{.learning_rate = 0.1};
    const Model model = network(longest, 1);
    TrainingModel training(model, options, optimizer);
    Model trained = network(longest);
    std::vector<NamedTensor> state;
    for (const std::int64_t length :
         {longest, std::int64_t{2}, std::int64_t{5}, std::int64_t{2}, longest}) {
      const auto data = sequences(4, length);
      Model fixed = network(length);
      copy_weights(trained, fixed);
      TrainingModel alone(fixed, options, optimizer);
      if (!state.empty()) alone.set_optimizer_state(state);
      const double expected = alone.step(data).mean_loss;
      EXPECT_EQ(training.step(data).mean_loss, expected) << "length " << length;
      state = alone.optimizer_state();
      copy_weights(fixed, trained);
    }
    EXPECT_EQ(training.updates(), 5U);
    expect_same_weights(model, trained);
  }
}

// The plan that has trained last holds the optimizer's state, also when it is no longer kept.
TEST(DynamicAxes, TrainOnWithMoreLengthsThanPlansAreKept) {
  constexpr std::int64_t many = 12;
  const auto build = [](std::int64_t length, bool dynamic) {
    Model model("means", 4);
    const Value x = model.input("x", {length, 3});
    if (dynamic) model.dynamic_axis(x, 1);
    model.loss(model.identity_loss(model.square(model.linear("fc", x, 2))));
    return model;
  };
  const Options options{.batch_size = 2};
  const Optimizer optimizer = AdamW{.learning_rate = 0.1};
  const Model model = build(many, true);
  TrainingModel training(model, options, optimizer);
  Model trained = build(many, false);
  std::vector<NamedTensor> state;
  for (std::int64_t call = 0; call < 2 * many; ++call) {
    const std::int64_t length = call % many + 1;
    const Tensor x = uniform({2, length, 3}, 7);
    Model fixed = build(length, false);
    copy_weights(trained, fixed);
    TrainingModel alone(fixed, options, optimizer);
    if (!state.empty()) alone.set_optimizer_state(state);
    alone.step({x});
    training.step({x});
    state = alone.optimizer_state();
    copy_weights(fixed, trained);
  }
  expect_same_weights(model, trained);
}

TEST(DynamicAxes, LeaveEachReplicaTheBuffersThatItHasMade) {
  const auto build = [](std::int64_t length, bool dynamic) {
    Model model("normed", 4);
    const Value x = model.input("x", {3, length});
    if (dynamic) model.dynamic_axis(x, 2);
    model.loss(model.identity_loss(model.square(model.batch_norm1d("norm", x))));
    return model;
  };
  Options options{.batch_size = 2};
  options.topology.replication_factor = 2;
  const Model model = build(longest, true), fixed = build(4, false);
  TrainingModel training(model, options, Sgd{}), alone(fixed, options, Sgd{});
  const Tensor x = uniform({4, 3, 4}, 7);
  training.step({x});
  alone.step({x});
  for (const int replica : {0, 1})
    EXPECT_TRUE(same_bits(training.buffer("norm.running_mean", replica),
                          alone.buffer("norm.running_mean", replica)))
        << replica;
}

/// Returns a network that computes the variances of the columns of `length` rows. If `shortest` is
/// not 0, there may be that few rows.
Model variances(std::int64_t length, std::int64_t shortest = 0) {
  Model model("variances");
  const Value x = model.input("x", {length, 2});
  if (shortest > 0) model.dynamic_axis(x, 1, shortest);
  model.output("variances", model.var(x, {1}));
  return model;
}

TEST(DynamicAxes, AreTheLengthByWhichAVarianceIsDivided) {
  InferenceModel model(variances(longest, 2), {.batch_size = 1});
  for (const std::int64_t length : {std::int64_t{2}, std::int64_t{5}, longest}) {
    InferenceModel fixed(variances(length), {.batch_size = 1});
    const Tensor x = uniform({1, length, 2}, 1);
    EXPECT_TRUE(same_bits(model.run({x}).output("variances"), fixed.run({x}).output("variances")))
        << length;
  }
  EXPECT_EQ(
      refusal(Errc::shape_mismatch,
              [] { InferenceModel(variances(longest, 1), {.batch_size = 1}); }),
      "model \"variances\": with dynamic axes of the length 1: mean \"mean_2\": expected more "
      "than 1 element along the axes, got x [1,1,2]");
}

/// Returns a network of layers that cut, join and go along axes behind the dynamic one.
Model of_many_layers(std::int64_t length, std::int64_t shortest = 0) {
  Model model("many layers", 2);
  const Value x = model.input("x", {length, 4});
  if (shortest > 0) model.dynamic_axis(x, 1, shortest);
  const Value states = model.lstm("lstm", x, {.hidden_size = 4}).output;
  const Value sums = model.cumsum(model.softmax(x, 1), 1);
  const std::vector<Value> parts =
      model.unbind(model.stack({states, sums, model.layer_norm("norm", x)}, 2), 2);
  const Value channels = model.transpose(parts[0] + parts[1] * parts[2], {0, 2, 1});
  const Value waves =
      model.conv1d("conv", channels, {.out_channels = 3, .kernel = 3, .padding = 1});
  const Value rows = model.squeeze(model.unsqueeze(waves, 1), 1);
  model.output("rows", rows);
  model.loss(model.identity_loss(model.square(model.amax(rows, {2}))));
  return model;
}

TEST(DynamicAxes, AreTakenByLayersThatCutAndJoinOtherAxes) {
  const Sgd none{.learning_rate = 0};
  TrainingModel dynamic(of_many_layers(longest, 1), {.batch_size = 2}, none);
  for (const std::int64_t length : {std::int64_t{1}, std::int64_t{4}, longest}) {
    TrainingModel fixed(of_many_layers(length), {.batch_size = 2}, none);
    const Tensor x = uniform({2, length, 4}, 3);
    const StepResult result = dynamic.step({x}), expected = fixed.step({x});
    EXPECT_EQ(result.mean_loss, expected.mean_loss) << length;
    EXPECT_TRUE(same_bits(result.output("rows"), expected.output("rows"))) << length;
  }
}

TEST(DynamicAxes, AreTakenBackWithTheLayersOfAChain) {
  Model model;
  const Value x = model.input("x", {4});
  Sequential chain(model, x);
  const auto failing = [](Model& inside, Value) -> Value {
    inside.dynamic_axis(inside.input("more", {5}), 1);
    throw 1;
  };
  EXPECT_THROW(chain.add(failing), int);
  model.output("y", model.relu(x));
  InferenceModel inference(model, {.batch_size = 1});
  const Tensor ones = uniform({1, 4}, 1);
  EXPECT_EQ(inference.run({ones}).output("y").shape(), (Shape{1, 4}));
}

TEST(DynamicAxes, RefuseLayersThatWereAddedForOneSize) {
  Model model;
  const Value x = model.input("x", {2, 16});
  model.dynamic_axis(x, 2, 8);
  model.output("y", model.interpolate(x, {.scale_factor = {2}, .mode = InterpolateMode::linear}));
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); }),
            "model \"model\": with dynamic axes of the length 8: interpolate \"interpolate_1\": "
            "expected f32[1,2,16], the size for which the layer was added, got f32[1,2,8]");
}

TEST(DynamicAxes, AreTakenByCallsOfFewerSamplesToo) {
  Options options{.batch_size = 2};
  options.device_iterations = 2;
  InferenceModel model(network(longest, 1), options), fixed(network(3), options);
  for (const std::int64_t samples : {3, 1, 4}) {
    const auto data = sequences(samples, 3);
    EXPECT_TRUE(same_bits(model.run(data).output("logits"), fixed.run(data).output("logits")))
        << samples;
  }
}

TEST(DynamicAxes, ArePredictedWithoutTargets) {
  InferenceModel model(network(longest, 1), {.batch_size = 2});
  const auto data = sequences(5, 3);
  const std::vector<NamedTensor> predicted = predict(model, {data[0]});
  ASSERT_EQ(predicted.size(), 1U);
  EXPECT_EQ(predicted[0].tensor.shape(), (Shape{5, 3, kinds}));
}

TEST(DynamicAxes, CompileEachLengthOnce) {
  const TemporaryDirectory directory;
  Options options{.batch_size = 2};
  options.runtime.cache_directory = directory.path().string();
  const auto plans = [&] {
    return std::ranges::distance(std::filesystem::directory_iterator(directory.path()),
                                 std::filesystem::directory_iterator());
  };
  InferenceModel model(network(longest, 1), options);
  EXPECT_EQ(plans(), 1);
  model.run(sequences(2, 3));
  EXPECT_EQ(plans(), 2);
  const std::uint64_t uploads = model.weight_uploads();
  model.run(sequences(2, 3));
  EXPECT_EQ(model.weight_uploads(), uploads) << "the second call of a length takes the kept plan";
  EXPECT_EQ(plans(), 2);
}

TEST(DynamicAxes, RefuseLengthsThatTheModelDoesNotTake) {
  const Model model = network(longest, 2);
  InferenceModel inference(model, {.batch_size = 1});
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { inference.run(sequences(1, 1)); }),
            "model \"reader\": input \"tokens\": expected a size from 2 to 7 on "
            "its dynamic axis 1, got 1");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      inference.run({sequences(1, 3)[0], sequences(1, 4)[1]});
                    }),
            "model \"reader\": input \"next\": expected the size 3 that inputs "
            "before it have on its dynamic axis 1, got 4");
  InferenceModel fixed(model, {.batch_size = 1, .static_shapes = true});
  EXPECT_NE(refusal(Errc::shape_mismatch, [&] { fixed.run(sequences(1, 3)); }).find("the size 7"),
            std::string::npos);
}

TEST(DynamicAxes, RefuseLayersOfAFixedLengthWhenTheModelIsMade) {
  Model model;
  const Value x = model.input("x", {4, 3});
  model.dynamic_axis(x, 1);
  model.output("y", model.linear("fc", model.flatten(x), 2));
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { InferenceModel(model, {.batch_size = 1}); }),
            "model \"model\": with dynamic axes of the "
            "length 1: linear \"fc\": expected 12 input features, got 3");
}

TEST(DynamicAxes, RefuseAxesThatAreNone) {
  Model model;
  const Value x = model.input("x", {4, 3}), y = model.input("y", {5});
  const auto refused = [&](Value value, int axis, std::int64_t shortest) {
    return refusal(Errc::invalid_argument, [&] { model.dynamic_axis(value, axis, shortest); });
  };
  EXPECT_EQ(refused(model.relu(x), 1, 1),
            "model \"model\": dynamic_axis of relu \"relu_1\": expected an input, got a value that "
            "the model computes or keeps");
  EXPECT_EQ(refused(x, 0, 1),
            "model \"model\": dynamic_axis of \"x\": expected an axis behind the batch of [1,4,3], "
            "got 0");
  EXPECT_EQ(refused(x, 1, 5),
            "model \"model\": dynamic_axis of \"x\": expected a shortest size from 1 to 4, got 5");
  model.dynamic_axis(x, 1);
  EXPECT_EQ(
      refused(x, 2, 1),
      "model \"model\": dynamic_axis of \"x\": expected one dynamic axis for each input, got a "
      "second one");
  EXPECT_EQ(refused(y, 1, 1),
            "model \"model\": dynamic_axis of \"y\": expected an axis of the size 4, as the one of "
            "\"x\" has, got 5");
}

}  // namespace
}  // namespace penstock::testing
