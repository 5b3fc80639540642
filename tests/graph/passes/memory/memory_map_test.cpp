#include "graph/passes/memory/memory_map.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/staged.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;
using testing::Staged;

/// Returns stages A and B. A has a linear layer and its tanh, which is sent to B. B has another
/// linear layer and the loss.
Staged two_stages() {
  ModelBuilder model;
  const auto x = model.input("x", {5}), target = model.input("target", {4});
  const auto h = model.block("A").apply("tanh", {model.linear("a", x, 4)}, {}, "h");
  const auto y = model.block("B").linear("b", h, 4);
  model.loss(model.apply("mse_loss", {y, target}, {}, "mse"));
  return Staged(model.graph());
}

StageMemoryMap map_of(const Staged& staged, std::int32_t stage,
                      const OffloadOptions& offload = {}) {
  return map_memory(staged.graph, staged.partition, stage, {{"loss", staged.graph.loss}}, offload);
}

Placement placement(const Staged& staged, const StageMemoryMap& map, const std::string& name) {
  const auto& found = map.placements[index(staged.value(name))];
  EXPECT_TRUE(found) << name;
  return found.value_or(Placement{});
}

constexpr Offload all{.on = true, .minimum_bytes = 0};

TEST(MemoryMap, HasParametersOneBehindTheOtherAtMultiplesOf64) {
  const Staged staged = two_stages();
  const StageMemoryMap map = map_of(staged, 0);
  EXPECT_EQ(placement(staged, map, "a.weight"), (Placement{{.space = Space::parameters}}));
  EXPECT_EQ(placement(staged, map, "a.bias"),
            (Placement{{.space = Space::parameters, .offset = 128}}))
      << "behind 20 floats";
  EXPECT_EQ(map.parameter_bytes, 192);
  EXPECT_EQ(map.variables.size(), 2U);
  EXPECT_FALSE(map.placements[index(staged.value("b.weight"))]) << "it is the other stage's";
}

TEST(MemoryMap, StashesWhatBackwardOrAnotherStageNeedsAndNothingElse) {
  const Staged staged = two_stages();
  const StageMemoryMap map = map_of(staged, 0);
  EXPECT_EQ(placement(staged, map, "h"), (Placement{{.space = Space::stash}}));
  EXPECT_FALSE(map.placements[index(staged.value("a"))]) << "tanh's gradient needs its output";
  EXPECT_EQ(map.stash_bytes, 64);
}

TEST(MemoryMap, FindsWhatItReceivesByItsPosition) {
  const Staged staged = two_stages();
  const StageMemoryMap map = map_of(staged, 1);
  const StageGraph& stage = staged.partition.stages[1];
  for (std::size_t i = 0; i < stage.forward_receives.size(); ++i) {
    const StageEdge& edge = staged.partition.edges[index(stage.forward_receives[i])];
    EXPECT_EQ(map.placements[index(edge.value)],
              (Placement{{.space = Space::received, .index = static_cast<std::int32_t>(i)}}));
  }
}

TEST(MemoryMap, SendsAGradientBackFromWhereItIsComputed) {
  const Staged staged = two_stages();
  const std::int32_t sent = staged.partition.stages[1].backward_sends.at(0);
  const ValueId gradient = staged.partition.edges[index(sent)].value;
  const StageMemoryMap map = map_of(staged, 1);
  EXPECT_EQ(map.placements[index(gradient)], (Placement{{.space = Space::sent_back}}));
  EXPECT_TRUE(map.copies.empty());
}

TEST(MemoryMap, SaysWhenWhatLivesInTheHostStoreArrives) {
  const Staged staged = two_stages();
  const OffloadOptions offload{
      .optimizer_state = {}, .accumulators = all, .activations = all, .weights = all};
  const StageMemoryMap first = map_of(staged, 0, offload), second = map_of(staged, 1, offload);
  EXPECT_EQ(placement(staged, first, "a.weight"), (Placement{{.space = Space::weight_room}}))
      << "it is brought for the stage's turn";
  EXPECT_EQ(placement(staged, first, "h"),
            (Placement{{.space = Space::host_stash}, Arrival::copied}));
  EXPECT_EQ(placement(staged, second, "h").arrival, Arrival::copied) << "from the other stage";
  const ValueId sum = staged.graph.parameter_gradients.at(0).sum;
  EXPECT_EQ(first.placements[index(sum)],
            (Placement{{.space = Space::host_accumulators}, Arrival::in_pieces}));
  EXPECT_EQ(first.parameter_bytes + first.accumulator_bytes + first.stash_bytes, 0);
  EXPECT_EQ(first.host_parameter_bytes, 192);
  EXPECT_EQ(first.host_accumulator_bytes, 192);
  EXPECT_EQ(first.host_stash_bytes, 64);
}

TEST(MemoryMap, RefusesTheNewValueOfABufferAsAnOutput) {
  ModelBuilder model;
  const auto x = model.input("x", {1, 2, 2});
  const auto norm =
      model.apply("batch_norm", {x, model.parameter("gamma", {1}), model.parameter("beta", {1}),
                                 model.buffer("mean", {1}), model.buffer("variance", {1})});
  model.loss(model.apply("identity_loss", {norm}, {{"reduction", "mean"}}));
  const Staged staged(model.graph());
  const Node& node = staged.graph.node(staged.graph.value(norm).producer);
  const ValueId update = node.outputs[index(node.op->updates.at(0).output)];
  EXPECT_NE(refusal(Errc::unsupported,
                    [&] {
                      map_memory(staged.graph, staged.partition, 0, {{"mean", update}});
                    })
                .find("is the new value of a buffer"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::graph
