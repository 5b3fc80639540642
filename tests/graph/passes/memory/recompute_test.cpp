#include "graph/passes/memory/recompute.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "graph/compile/compile.hpp"
#include "graph/ir/op.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/plan_runner.hpp"
#include "tests/support/random_network.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;
using Names = std::vector<std::string>;
using Flags = std::vector<bool>;

CompileRequest training(bool recompute, std::vector<StageRequest> stages = {}) {
  return {.training = true,
          .batch = 3,
          .stages = std::move(stages),
          .gradient_accumulation = 16,
          .recompute = {.on = recompute}};
}

Plan plan_of(const Graph& model, bool recompute) {
  return compile(model, training(recompute)).plan;
}

/// A TwoBlocks has a model of two blocks. The first one is a chain of four layers, each a product
/// and an activation, and the second one is a layer with the loss.
struct TwoBlocks {
  ModelBuilder model;
  std::vector<ValueId> activations = {};

  TwoBlocks() {
    ValueId x = model.block("A").input("x", {6});
    for (int layer = 0; layer < 4; ++layer) {
      const std::string name = std::to_string(layer);
      x = model.apply("tanh", {model.linear("fc" + name, x, 6)}, {}, "tanh" + name);
      activations.push_back(x);
    }
    const ValueId y = model.block("B").linear("last", x, 6);
    model.loss(model.apply("mse_loss", {y, model.input("target", {6})}, {}, "loss"));
  }

  Graph with_checkpoints(const std::vector<std::size_t>& layers) const {
    Graph graph = model.graph();
    for (const std::size_t layer : layers) graph.value(activations[layer]).checkpoint = true;
    return graph;
  }
};

/// Returns the number of tensors of a micro-batch that a stage keeps.
std::size_t stashed(const StagePlan& stage) {
  std::set<std::int64_t> offsets;
  for (const Instruction& instruction : stage.forward.instructions)
    for (const Location& output : instruction.outputs)
      if (output.space == Space::stash) offsets.insert(output.offset);
  return offsets.size();
}

// 3.6 of docs/reference.md: the last stage never recomputes, because its backward follows its
// forward at once.
TEST(Recompute, LeavesTheLastStageAlone) {
  EXPECT_EQ(recomputed_stages({}, 3), (Flags{false, false, false}));
  EXPECT_EQ(recomputed_stages({.on = true}, 3), (Flags{true, true, false}));
  EXPECT_EQ(recomputed_stages({.on = true}, 1), (Flags{false}));
  EXPECT_EQ(recomputed_stages({.on = true, .stages = {1}}, 3), (Flags{false, true, false}));
}

TEST(Recompute, RefusesStagesThatCannot) {
  const auto refused = [](std::int32_t stage, std::int32_t stages) {
    return refusal(Errc::invalid_topology, [&] {
      recomputed_stages({.on = true, .stages = {0, stage}}, stages);
    });
  };
  EXPECT_EQ(refused(1, 3), "accepted");
  EXPECT_EQ(refused(2, 3),
            "options.training.recompute_stages: expected stages before stage 2, for the last one "
            "never recomputes, got 2");
  EXPECT_EQ(refused(-1, 3),
            "options.training.recompute_stages: expected stages before stage 2, for the last one "
            "never recomputes, got -1");
  EXPECT_EQ(refused(0, 1),
            "options.training.recompute_stages: expected none, for the only stage never "
            "recomputes, got 0");
}

TEST(Recompute, KeepsWhatIsSentAndOneMoreTensorPerCheckpoint) {
  const TwoBlocks net;
  EXPECT_EQ(stashed(plan_of(net.with_checkpoints({}), false).stages[0]), 4U);
  EXPECT_EQ(stashed(plan_of(net.with_checkpoints({}), true).stages[0]), 1U);
  EXPECT_EQ(stashed(plan_of(net.with_checkpoints({1}), true).stages[0]), 2U);
  EXPECT_EQ(stashed(plan_of(net.with_checkpoints({0, 1}), true).stages[0]), 3U);
  EXPECT_EQ(stashed(plan_of(net.with_checkpoints({3}), true).stages[0]), 1U) << "sent anyway";
}

TEST(Recompute, IgnoresCheckpointsInTheLastStageAndWhereNothingIsRecomputed) {
  const TwoBlocks net;
  Graph marked = net.with_checkpoints({1, 2});
  const Plan kept = plan_of(net.with_checkpoints({}), false), with = plan_of(marked, false);
  EXPECT_EQ(with.stages[0].stash_bytes, kept.stages[0].stash_bytes);
  for (Value& value : marked.values) value.checkpoint = true;
  const Plan recomputed = plan_of(marked, true);
  EXPECT_EQ(recomputed.stages[1].stash_bytes, kept.stages[1].stash_bytes);
  EXPECT_EQ(recomputed.stages[1].backward.recomputed, 0);
}

/// Returns the activations, and the gradients of activations, that the backward program computes,
/// in the order of the program.
Names order(const Plan& plan) {
  Names names;
  for (const Instruction& instruction : plan.stages[0].backward.instructions)
    if (instruction.name.starts_with("tanh")) names.push_back(instruction.name);
  return names;
}

TEST(Recompute, RepeatsAWholeStageBeforeItsBackward) {
  EXPECT_EQ(
      order(plan_of(TwoBlocks().with_checkpoints({}), true)),
      (Names{"tanh3/tanh_gradient", "tanh0/recomputed", "tanh1/recomputed", "tanh2/recomputed",
             "tanh2/tanh_gradient", "tanh1/tanh_gradient", "tanh0/tanh_gradient"}));
}

TEST(Recompute, RepeatsSegmentBySegmentBetweenCheckpoints) {
  EXPECT_EQ(order(plan_of(TwoBlocks().with_checkpoints({1}), true)),
            (Names{"tanh3/tanh_gradient", "tanh2/recomputed", "tanh2/tanh_gradient",
                   "tanh1/tanh_gradient", "tanh0/recomputed", "tanh0/tanh_gradient"}));
}

/// Returns a chain of 16 layers of 64 features in one block, and the loss in another.
Graph long_chain(const std::vector<int>& checkpoints) {
  ModelBuilder model;
  ValueId x = model.block("A").input("x", {64});
  x = model.apply("add", {x, model.parameter("offset", {64})});
  std::vector<ValueId> marked;
  for (int layer = 0; layer < 16; ++layer) {
    x = model.apply("tanh", {x});
    if (std::ranges::count(checkpoints, layer) > 0) marked.push_back(x);
  }
  model.loss(model.block("B").apply("mse_loss", {x, model.input("target", {64})}, {}, "loss"));
  Graph graph = model.graph();
  for (const ValueId value : marked) graph.value(value).checkpoint = true;
  return graph;
}

TEST(Recompute, TradesStashForScratchWhichCheckpointsLower) {
  constexpr std::int64_t tensor = 3 * 64 * 4;
  const Plan kept = plan_of(long_chain({}), false);
  const Plan whole = plan_of(long_chain({}), true);
  const Plan pieces = plan_of(long_chain({3, 7, 11}), true);
  EXPECT_EQ(kept.stages[0].stash_bytes, 16 * tensor);
  EXPECT_EQ(whole.stages[0].stash_bytes, tensor);
  EXPECT_EQ(pieces.stages[0].stash_bytes, 4 * tensor);
  EXPECT_LE(kept.stages[0].scratch_bytes, 2 * tensor);
  EXPECT_GE(whole.stages[0].scratch_bytes, 15 * tensor) << "all of one micro-batch";
  EXPECT_LE(pieces.stages[0].scratch_bytes, 5 * tensor) << "those between two checkpoints";
  EXPECT_LT(stage_bytes(whole, 0), stage_bytes(kept, 0));
  EXPECT_LT(stage_bytes(pieces, 0), stage_bytes(kept, 0));
}

TEST(Recompute, CountsWhatItRepeats) {
  const Plan plan = plan_of(TwoBlocks().with_checkpoints({}), true);
  const Program& backward = plan.stages[0].backward;
  EXPECT_EQ(backward.recomputed, 6) << "three layers, all but the one whose result is kept";
  EXPECT_EQ(backward.recomputed_cost.flops * 4 / 3, plan.stages[0].forward.cost.flops);
  EXPECT_GT(backward.cost.flops, backward.recomputed_cost.flops);
}

TEST(Recompute, DropsItsWorkWhereNothingIsNeeded) {
  ModelBuilder model;
  const ValueId x = model.block("A").apply("relu", {model.linear("fc", model.input("x", {4}), 4)});
  model.loss(model.block("B").apply("mse_loss", {x, model.input("target", {4})}, {}, "loss"));
  EXPECT_EQ(plan_of(model.graph(), true).stages[0].backward.recomputed, 0)
      << "relu's gradient is found from what is sent";
}

void expect_same(const Plan& actual, const Plan& expected, const std::string& what) {
  const auto inputs = testing::random_inputs(expected, 3);
  EXPECT_TRUE(std::ranges::equal(testing::window_results(actual, inputs),
                                 testing::window_results(expected, inputs), testing::same_bits))
      << what;
}

std::int64_t stash_of(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const StagePlan& stage : plan.stages) bytes += stage.stash_bytes;
  return bytes;
}

TEST(Recompute, KeepsTheBitsOfEveryNetworkWithAnyCheckpoints) {
  const std::vector<StageRequest> cuts[] = {{{{"B0", "B1"}}, {{"B2", "B3"}}},
                                            {{{"B0"}}, {{"B1"}}, {{"B2"}}, {{"B3"}}}};
  std::int64_t kept_bytes = 0, bytes = 0, repeated = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Graph model = testing::random_network(seed).graph();
    for (std::size_t i = 0; i < model.values.size(); ++i)
      model.values[i].checkpoint = seed % 2 == 1 && i % 3 == 0;
    for (const auto& cut : cuts) {
      const Plan kept = compile(model, training(false, cut)).plan;
      const Plan plan = compile(model, training(true, cut)).plan;
      expect_same(plan, kept, "network " + std::to_string(seed));
      kept_bytes += stash_of(kept);
      bytes += stash_of(plan);
      for (const StagePlan& stage : plan.stages) repeated += stage.backward.recomputed;
    }
  }
  EXPECT_GT(repeated, 0);
  EXPECT_LT(bytes, kept_bytes);
}

/// Returns a model of two blocks. The first one has masks, statistics, lanes and a fused
/// convolution with its winners.
Graph convolutional_network() {
  ModelBuilder model;
  const auto x = model.block("A").input("x", {1, 12, 12});
  const auto c1 = model.apply("conv2d", {x, model.parameter("c1", {4, 1, 3, 3})}, {}, "c1");
  const auto p1 = model.apply("relu", {model.apply("max_pool2d", {c1}, {{"kernel", 2}})});
  const auto c2 = model.apply("conv2d", {p1, model.parameter("c2", {4, 4, 2, 2})}, {}, "c2");
  const auto norm = model.apply("batch_norm",
                                {c2, model.parameter("gamma", {4}), model.parameter("beta", {4}),
                                 model.buffer("mean", {4}), model.buffer("variance", {4})},
                                {}, "norm");
  const auto dropped = model.apply("dropout", {model.apply("relu", {norm})}, {{"p", 0.3}}, "drop");
  const auto pooled = model.apply("avg_pool2d", {dropped}, {{"kernel", 4}});
  const auto y = model.block("B").linear("fc", model.apply("flatten", {pooled}), 4);
  model.loss(model.apply("mse_loss", {y, model.input("target", {4})}, {}, "loss"));
  return model.graph();
}

TEST(Recompute, ReplaysMasksAndChangesStatisticsOnce) {
  CompileRequest request = training(true);
  request.batch = 12;
  const Plan plan = compile(convolutional_network(), request).plan;
  request.recompute.on = false;
  const Plan kept = compile(convolutional_network(), request).plan;
  Names repeated;
  for (const Instruction& instruction : plan.stages[0].backward.instructions)
    if (instruction.name.ends_with("/recomputed")) repeated.push_back(instruction.name);
  for (const char* layer : {"c1", "norm", "drop"})
    EXPECT_EQ(std::ranges::count(repeated, layer + std::string("/recomputed")), 1) << layer;
  expect_same(plan, kept, "outputs, gradients, running statistics");
}

}  // namespace
}  // namespace penstock::graph
