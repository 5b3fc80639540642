#include "graph/passes/network/fuse_exactly.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph/compile/compile.hpp"
#include "graph/ir/op.hpp"
#include "tests/graph/compile/networks_to_compile.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/plan_runner.hpp"

namespace penstock::graph {
namespace {

using testing::expect_same;
using testing::Inputs;
using testing::ModelBuilder;
using testing::random_inputs;
using testing::window_results;
using Names = std::vector<std::string>;

/// A Network adds layers with parameters of their own to a model.
struct Network {
  ModelBuilder model = {};
  ValueId x = model.input("x", {2, 7, 5});
  int variables = 0;

  ValueId parameter(const Shape& shape) {
    return model.parameter("p" + std::to_string(variables++), shape);
  }
  ValueId convolution(ValueId input, const std::string& name = "") {
    const ValueId weight = parameter({4, model.shape(input)[1], 3, 3});
    return model.apply("conv2d", {input, weight}, {{"padding", 1}}, name);
  }
  ValueId norm(ValueId input, const std::string& name = "") {
    return model.apply("batch_norm_inference", norm_inputs(input), {}, name);
  }
  ValueId batch_norm(ValueId input, const std::string& name = "") {
    return model.apply("batch_norm", norm_inputs(input), {}, name);
  }
  std::vector<ValueId> norm_inputs(ValueId input) {
    const Shape channels{model.shape(input)[1]};
    std::vector<ValueId> inputs{input, parameter(channels), parameter(channels)};
    for (int i = 0; i < 2; ++i)
      inputs.push_back(model.buffer("b" + std::to_string(variables++), channels));
    return inputs;
  }
  ValueId add(ValueId a, ValueId b) { return model.apply("add", {a, b}); }
  void loss(ValueId value) { model.loss(model.apply("identity_loss", {value})); }
  ValueId relu6(ValueId input, const std::string& name = "") {
    return model.apply("hardtanh", {input}, {{"low", 0.0}, {"high", 6.0}}, name);
  }
  ValueId relu(ValueId input) { return model.apply("relu", {input}); }

  Plan plan(CompileRequest request = {}) const {
    request.batch = 3;
    return compile(model.graph(), request).plan;
  }
};

/// Returns the ops of the plan's forward programs.
Names ops(const Plan& plan) {
  Names names;
  for (const StagePlan& stage : plan.stages)
    for (const Instruction& instruction : stage.forward.instructions)
      names.emplace_back(instruction.op->name);
  return names;
}

TEST(FuseForInference, MakesOneNodeOfAConvolutionItsNormAndItsClamp) {
  Network network;
  const ValueId y = network.relu6(network.norm(network.convolution(network.x, "conv"), "norm"));
  network.model.output("y", network.relu(network.norm(network.convolution(y))));
  const Plan plan = network.plan();
  EXPECT_EQ(ops(plan), (Names{"conv2d_inference", "conv2d_inference"}));
  EXPECT_EQ(plan.stages[0].forward.instructions[0].name, "conv");
}

TEST(FuseForInference, LeavesOutTheNormOrTheClampThatIsNotThere) {
  Network network;
  const ValueId clamped = network.relu6(network.convolution(network.x));
  const ValueId normalised = network.norm(network.convolution(clamped));
  network.model.output("y", network.model.apply("tanh", {normalised}));
  EXPECT_EQ(ops(network.plan()), (Names{"conv2d_inference", "conv2d_inference", "tanh"}));
}

TEST(FuseForInference, KeepsTheOrderOfWhatFollowsAConvolution) {
  Network network;
  const ValueId clamped = network.relu6(network.convolution(network.x));
  const ValueId twice = network.norm(network.norm(network.convolution(network.norm(clamped))));
  network.model.output("y", network.norm(network.relu(network.convolution(twice))));
  EXPECT_EQ(ops(network.plan()),
            (Names{"conv2d_inference", "batch_norm_inference", "conv2d_inference",
                   "batch_norm_inference", "conv2d", "batch_norm_inference"}));
}

TEST(FuseForInference, AddsTheOtherEndOfASkipConnection) {
  Network network;
  const ValueId skipped = network.relu(network.norm(network.convolution(network.x)));
  const ValueId y = network.norm(network.convolution(skipped));
  const ValueId first = network.relu(network.model.apply("add", {y, skipped}));
  const ValueId projected = network.norm(network.convolution(first));
  const ValueId z = network.norm(network.convolution(first));
  network.model.output("y", network.relu6(network.model.apply("add", {projected, z})));
  EXPECT_EQ(ops(network.plan()), Names(4, "conv2d_inference"));
}

// The convolution on the other way into the sum stays where it is, so that its input is not kept
// until the sum.
TEST(FuseForInference, JoinsASumToTheConvolutionThatIsComputedLast) {
  for (const bool swapped : {false, true}) {
    Network network;
    const ValueId skip = network.convolution(network.x, "skip");
    const ValueId y = network.convolution(network.convolution(network.x, "first"), "last");
    network.model.output("y", network.model.apply("add", {swapped ? y : skip, swapped ? skip : y}));
    const Plan plan = network.plan();
    Names names;
    for (const Instruction& instruction : plan.stages[0].forward.instructions)
      names.push_back(instruction.name);
    EXPECT_EQ(names, (Names{"skip", "first", "last"}));
  }
}

TEST(FuseForInference, LeavesASumOfOtherShapesOrOfTheSameValueTwice) {
  Network network;
  const ValueId y = network.convolution(network.x);
  const ValueId wide = network.model.apply("add", {y, network.parameter({4, 1, 1})});
  const ValueId z = network.convolution(wide);
  network.model.output("y", network.model.apply("add", {z, z}));
  EXPECT_EQ(ops(network.plan()), (Names{"conv2d", "add", "conv2d", "add"}));
}

TEST(FuseForInference, LeavesAValueThatSomebodyElseReads) {
  Network network;
  const ValueId convolved = network.convolution(network.x);
  const ValueId normalised = network.norm(convolved), clamped = network.relu6(normalised);
  network.model.output("y", network.model.apply("mul", {convolved, clamped}));
  EXPECT_EQ(ops(network.plan()), (Names{"conv2d", "batch_norm_inference", "hardtanh", "mul"}));
  Network other;
  const ValueId norm = other.norm(other.convolution(other.x));
  other.model.output("y", other.model.apply("mul", {norm, other.relu6(norm)}));
  EXPECT_EQ(ops(other.plan()), (Names{"conv2d_inference", "hardtanh", "mul"}));
}

TEST(FuseForInference, LeavesAnOutputAndAnAnchor) {
  Network network;
  const ValueId convolved = network.convolution(network.x, "conv");
  network.model.output("y", network.relu6(network.norm(convolved)));
  EXPECT_EQ(ops(network.plan({.anchors = {{.tensor = "conv"}}})),
            (Names{"conv2d", "batch_norm_inference", "hardtanh"}));
  network.model.output("convolved", convolved);
  EXPECT_EQ(ops(network.plan()), (Names{"conv2d", "batch_norm_inference", "hardtanh"}));
}

TEST(FuseForInference, LeavesANormOfAnotherBlock) {
  Network network;
  const ValueId convolved = (network.model.block("A"), network.convolution(network.x));
  const ValueId normalised = (network.model.block("B"), network.norm(convolved));
  network.model.output("y", (network.model.block("C"), network.relu6(normalised)));
  EXPECT_EQ(ops(network.plan({.stages = {{{"A", "B", "C"}}}})),
            (Names{"conv2d", "batch_norm_inference", "hardtanh"}));
}

TEST(FuseForInference, LeavesTrainingAsItIs) {
  Network network;
  network.model.loss(network.model.apply(
      "identity_loss", {network.relu6(network.norm(network.convolution(network.x)))}));
  EXPECT_EQ(ops(network.plan({.training = true})),
            (Names{"conv2d", "batch_norm_inference", "hardtanh", "identity_loss"}));
}

/// Builds convolutions with norms and clamps in four blocks, two of which begin with a norm.
Network network_of_blocks() {
  Network network;
  network.model.block("B0");
  const ValueId first = network.relu6(network.norm(network.convolution(network.x)));
  const ValueId second = network.convolution(first);
  network.model.block("B1");
  const ValueId third = network.convolution(network.norm(second));
  network.model.block("B2");
  const ValueId fourth = network.norm(third, "late");
  const ValueId sum = network.model.apply("add", {network.convolution(fourth), fourth});
  const ValueId fifth = network.norm(network.convolution(network.relu(sum)), "norm");
  network.model.block("B3");
  network.model.output("y", network.norm(network.relu(network.norm(network.convolution(fifth)))));
  return network;
}

TEST(FuseForInference, ChangesNoBitWhateverIsCutOrAnchored) {
  const Network network = network_of_blocks();
  const Plan whole = network.plan({.stages = {{{"B0", "B1", "B2", "B3"}}}});
  const Inputs inputs = random_inputs(whole, 2);
  const auto expected = window_results(whole, inputs);
  EXPECT_TRUE(std::ranges::all_of(expected, testing::finite));
  for (const auto& cut : testing::cuts)
    expect_same(window_results(network.plan({.stages = cut}), inputs), expected);
  // Where every value is an anchor, no convolution is fused.
  CompileRequest request{.stages = {{{"B0", "B1", "B2", "B3"}}}};
  for (const Node& node : network.model.graph().nodes)
    request.anchors.push_back({network.model.graph().value(node.outputs[0]).name, false});
  const Plan apart = network.plan(request);
  EXPECT_EQ(std::ranges::count(ops(apart), "conv2d_inference"), 0);
  EXPECT_EQ(std::ranges::count(ops(whole), "conv2d_inference"), 4);
  const auto results = window_results(apart, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    EXPECT_TRUE(testing::same_bits(results[i * (1 + request.anchors.size())], expected[i]));
}

/// Returns the ops of the forward program that trains `network`.
Names training_ops(const Network& network, CompileRequest request = {}) {
  request.training = true;
  return ops(network.plan(std::move(request)));
}

TEST(FuseForTraining, MakesOneNodeOfANormItsSumAndItsClamp) {
  Network network;
  const ValueId first = network.relu6(network.batch_norm(network.convolution(network.x), "norm"));
  const ValueId second = network.batch_norm(network.convolution(first));
  network.loss(network.relu(network.add(first, second)));
  EXPECT_EQ(training_ops(network), (Names{"conv2d", "finished_batch_norm", "conv2d",
                                          "finished_batch_norm", "identity_loss"}));
  const Plan plan = network.plan({.training = true});
  EXPECT_EQ(plan.stages[0].forward.instructions[1].name, "norm");
}

TEST(FuseForTraining, AddsToTheNormThatIsComputedLast) {
  Network network;
  const ValueId skip = network.batch_norm(network.convolution(network.x), "skip");
  const ValueId last = network.batch_norm(network.convolution(network.x), "last");
  network.loss(network.add(last, skip));
  const Plan plan = network.plan({.training = true});
  EXPECT_EQ(ops(plan),
            (Names{"conv2d", "batch_norm", "conv2d", "finished_batch_norm", "identity_loss"}));
  EXPECT_EQ(plan.stages[0].forward.instructions[1].inputs.size(), 5u);
  EXPECT_EQ(plan.stages[0].forward.instructions[3].inputs.size(), 6u);
}

TEST(FuseForTraining, LeavesAValueThatSomebodyElseReads) {
  const Names apart{"conv2d", "batch_norm", "relu", "identity_loss"};
  Network network;
  const ValueId norm = network.batch_norm(network.convolution(network.x), "norm");
  network.loss(network.relu(norm));
  EXPECT_EQ(training_ops(network), (Names{"conv2d", "finished_batch_norm", "identity_loss"}));
  EXPECT_EQ(training_ops(network, {.anchors = {{.tensor = "norm"}}}), apart);
  EXPECT_EQ(training_ops(network, {.anchors = {{.tensor = "norm", .gradient = true}}}), apart);
  network.model.output("y", norm);
  EXPECT_EQ(training_ops(network), apart);
}

TEST(FuseForTraining, LeavesAClampOfAnotherBlock) {
  Network network;
  const ValueId norm = (network.model.block("A"), network.batch_norm(network.x));
  network.model.block("B");
  network.loss(network.relu(norm));
  EXPECT_EQ(training_ops(network, {.stages = {{{"A", "B"}}}}),
            (Names{"batch_norm", "relu", "identity_loss"}));
}

// The gradients of x are added in the order of the nodes that read x, which must stay.
TEST(FuseForTraining, LeavesAClampIfANodeBeforeItReadsTheSameInput) {
  Network network;
  const ValueId x = network.convolution(network.x), norm = network.batch_norm(x);
  const ValueId between = network.model.apply("tanh", {x});
  network.loss(network.add(network.relu(norm), between));
  EXPECT_EQ(training_ops(network),
            (Names{"conv2d", "batch_norm", "tanh", "relu", "add", "identity_loss"}));
}

// Sums of gradients, and statistics, keep the order of the norms that share them. The first norm
// would come after the second one if it were computed where its clamp is.
TEST(FuseForTraining, LeavesAClampIfANormBeforeItSharesParametersOrStatistics) {
  for (const std::size_t shared : {1, 3}) {
    Network network;
    const std::vector<ValueId> first = network.norm_inputs(network.convolution(network.x));
    std::vector<ValueId> second = network.norm_inputs(network.convolution(network.x));
    second[shared] = first[shared];
    second[shared + 1] = first[shared + 1];
    const ValueId a = network.model.apply("batch_norm", first);
    const ValueId b = network.model.apply("batch_norm", second);
    const ValueId clamped = network.relu(a);
    network.loss(network.add(clamped, network.relu(b)));
    EXPECT_EQ(training_ops(network), (Names{"conv2d", "conv2d", "batch_norm", "relu",
                                            "finished_batch_norm", "add", "identity_loss"}));
  }
}

TEST(FuseForTraining, KeepsTheResultInPlaceOfACheckpointThatIsNotComputed) {
  Network network;
  const ValueId norm = network.batch_norm(network.convolution(network.x));
  const ValueId clamped = network.relu(norm);
  network.loss(clamped);
  Graph graph = with_batch(network.model.graph(), 3);
  EXPECT_FALSE(fuse_for_training(graph).value(clamped).checkpoint);
  graph.value(norm).checkpoint = true;
  EXPECT_TRUE(fuse_for_training(graph).value(clamped).checkpoint);
}

TEST(FuseForTraining, LeavesASumWithWhatTheNormReads) {
  Network network;
  const ValueId x = network.convolution(network.x);
  network.loss(network.relu(network.add(network.batch_norm(x), x)));
  EXPECT_EQ(training_ops(network), (Names{"conv2d", "batch_norm", "add", "relu", "identity_loss"}));
}

/// Builds residual blocks with every form of a norm, in four blocks of the model.
Network residual_network() {
  Network network;
  network.model.block("B0");
  const ValueId first = network.relu6(network.batch_norm(network.convolution(network.x), "n0"));
  network.model.block("B1");
  const ValueId second = network.relu(network.batch_norm(network.convolution(first), "n1"));
  const ValueId third = network.batch_norm(network.convolution(second), "n2");
  const ValueId sum = network.relu(network.model.apply("add", {third, first}, {}, "sum"));
  network.model.block("B2");
  const ValueId linear = network.batch_norm(network.convolution(sum), "n3");
  const ValueId projected = network.add(linear, network.batch_norm(network.convolution(sum), "n4"));
  network.model.block("B3");
  network.loss(network.relu(network.batch_norm(projected, "n5")));
  return network;
}

TEST(FuseForTraining, ChangesNoBitWhateverIsCutOrAnchored) {
  const Network network = residual_network();
  const std::vector<StageRequest> all{{{"B0", "B1", "B2", "B3"}}};
  const Plan whole = network.plan({.training = true, .stages = all, .gradient_accumulation = 16});
  const Inputs inputs = random_inputs(whole, 2);
  const auto expected = window_results(whole, inputs);
  EXPECT_TRUE(std::ranges::all_of(expected, testing::finite));
  for (const auto& cut : testing::cuts)
    expect_same(
        window_results(network.plan({.training = true, .stages = cut, .gradient_accumulation = 16}),
                       inputs),
        expected);
  CompileRequest request{.training = true, .stages = all, .gradient_accumulation = 16};
  for (const char* norm : {"n0", "n1", "n2", "n3", "n4", "n5"})
    request.anchors.push_back({.tensor = norm});
  const Plan apart = network.plan(request);
  EXPECT_EQ(std::ranges::count(ops(whole), "relu") + std::ranges::count(ops(whole), "add"), 0);
  EXPECT_EQ(std::ranges::count(ops(apart), "relu") + std::ranges::count(ops(apart), "add"), 5);
  // The results end with those of variables, behind what the host is given of each micro-batch.
  const auto results = window_results(apart, inputs);
  const std::size_t given = inputs.size() * whole.outputs.size();
  const std::size_t given_apart = inputs.size() * apart.outputs.size();
  expect_same({results.begin() + static_cast<std::ptrdiff_t>(given_apart), results.end()},
              {expected.begin() + static_cast<std::ptrdiff_t>(given), expected.end()});
}

}  // namespace
}  // namespace penstock::graph
