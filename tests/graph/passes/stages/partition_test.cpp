#include "graph/passes/stages/partition.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/staged.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;
using testing::Staged;

std::string shown(const Graph& graph, const StageEdge& edge) {
  const char* kinds[] = {"input", "activation", "gradient", "order"};
  const auto stage = [](std::int32_t number) {
    return number == host ? "host" : std::to_string(number);
  };
  std::string text = kinds[static_cast<std::size_t>(edge.kind)];
  if (edge.value != none) text += " " + graph.value(edge.value).name;
  return text + " " + stage(edge.from) + "->" + stage(edge.to);
}

std::vector<std::string> edges(const Staged& staged) {
  std::vector<std::string> texts;
  for (const StageEdge& edge : staged.partition.edges) texts.push_back(shown(staged.graph, edge));
  return texts;
}

/// Returns a graph in which h goes from A to B and skips to C, x goes to A and C, and the target
/// goes to C only.
Graph skipping() {
  ModelBuilder model;
  const auto x = model.input("x", {4}), target = model.input("target", {4});
  const auto h = model.block("A").linear("a", x, 4);
  const auto b = model.block("B").linear("b", h, 4);
  const auto sum = model.block("C").apply("add", {model.apply("add", {b, h}), x});
  model.loss(model.apply("mse_loss", {sum, target}, {}, "mse"));
  return model.graph();
}

TEST(Partition, SendsEachValueStraightToEachStageThatNeedsIt) {
  EXPECT_EQ(edges(Staged(skipping(), false)),
            (std::vector<std::string>{"input x host->0", "input x host->2", "input target host->2",
                                      "activation a 0->1", "activation a 0->2", "activation b 1->2",
                                      "order 1->0", "order 2->1"}));
}

TEST(Partition, SendsGradientsStraightBack) {
  EXPECT_EQ(edges(Staged(skipping())),
            (std::vector<std::string>{
                "input x host->0", "input x host->2", "input target host->2", "activation a 0->1",
                "activation a 0->2", "activation b 1->2", "gradient mse/mse_loss_gradient 2->0",
                "gradient mse/mse_loss_gradient 2->1", "gradient b/linear_input_gradient 1->0"}));
}

TEST(Partition, JoinsNeighboursThatExchangeNothing) {
  ModelBuilder model;
  const auto x = model.input("x", {4});
  const auto a = model.block("A").linear("a", x, 4);
  const auto b = model.block("B").linear("b", x, 4);
  model.loss(model.block("C").apply("add", {a, b}, {}, "sum"));
  EXPECT_EQ(edges(Staged(model.graph())),
            (std::vector<std::string>{"input x host->0", "input x host->1", "activation a 0->2",
                                      "activation b 1->2", "gradient sum/fill 2->0",
                                      "gradient sum/fill 2->1", "order 0->1", "order 1->0"}));
}

TEST(Partition, ListsEachEdgeAtBothOfItsEnds) {
  const Partition parts = Staged(skipping()).partition;
  EXPECT_EQ(parts.stages[0].forward_receives, (std::vector<std::int32_t>{0}));
  EXPECT_EQ(parts.stages[0].forward_sends, (std::vector<std::int32_t>{3, 4}));
  EXPECT_EQ(parts.stages[0].backward_receives, (std::vector<std::int32_t>{6, 8}));
  EXPECT_EQ(parts.stages[1].backward_sends, (std::vector<std::int32_t>{8}));
  EXPECT_EQ(parts.stages[2].forward_receives, (std::vector<std::int32_t>{1, 2, 4, 5}));
  EXPECT_EQ(parts.stages[2].backward_sends, (std::vector<std::int32_t>{6, 7}));
}

// C7 of docs/reference.md: the forward and the backward of a layer are in one stage, and so on one
// IPU.
TEST(Partition, RunsBackwardNodesWhereTheirForwardNodesAre) {
  const Staged staged(skipping());
  std::size_t seen = 0;
  for (std::size_t stage = 0; stage < 3; ++stage)
    for (const NodeId id : staged.partition.stages[stage].backward) {
      const Node& node = staged.graph.node(id);
      EXPECT_EQ(staged.assignment.of(staged.graph.node(node.forward_of)),
                static_cast<std::int32_t>(stage))
          << node.name;
      ++seen;
    }
  EXPECT_EQ(seen, staged.graph.nodes.size() - skipping().nodes.size());
}

TEST(Partition, RefusesAFirstStageThatNoInputReaches) {
  ModelBuilder model;
  const auto p = model.parameter("p", {4, 4});
  const auto h = model.block("A").apply("relu", {p});
  model.block("B").apply("linear", {model.input("x", {4}), h});
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { Staged(model.graph(), false); }),
            "stage 0 uses no input of the model; nothing would tell it to begin");
}

}  // namespace
}  // namespace penstock::graph
