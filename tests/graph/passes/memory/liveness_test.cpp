#include "graph/passes/memory/liveness.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "graph/passes/memory/memory_plan.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/random_network.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;

std::vector<NodeId> all_nodes(const Graph& graph) {
  std::vector<NodeId> nodes(graph.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

/// Returns placements of all values that no node computes. Values that a node computes are
/// temporaries.
Placements placements_of(const Graph& graph) {
  Placements result(graph.values.size());
  for (std::size_t id = 0; id < result.size(); ++id)
    if (graph.values[id].kind != ValueKind::computed) result[id] = Placement{};
  return result;
}

Liveness liveness_of(const Graph& graph, const LivenessOptions& options = {}) {
  return find_liveness(graph, all_nodes(graph), placements_of(graph), options);
}

std::map<ValueId, std::size_t> by_value(const Liveness& live) {
  return {live.values.begin(), live.values.end()};
}

/// Returns h1 = tanh(x); h2 = relu(h1); h3 = relu(h2); sum = h2 + h3.
Graph branch() {
  ModelBuilder model;
  const auto x = model.input("x", {4});
  const auto h1 = model.apply("tanh", {x}, {}, "h1");
  const auto h2 = model.apply("relu", {h1}, {}, "h2");
  const auto h3 = model.apply("relu", {h2}, {}, "h3");
  model.apply("add", {h2, h3}, {}, "sum");
  return model.graph();
}

TEST(Liveness, LoadsWhatLiesElsewhereForTheNodesThatReadItOnly) {
  const Graph graph = branch();
  const std::vector<NodeId> later{2, 3};  // Nodes 2 and 3 are h3 and sum, which read h2.
  const ValueId h2 = graph.node(1).outputs[0];
  Placements placements = placements_of(graph);
  placements[index(h2)] = Placement{{.space = Space::host_stash}, Arrival::copied};
  const Liveness live = find_liveness(graph, later, placements);
  const Buffer& buffer = live.buffers.at(by_value(live).at(h2));
  EXPECT_EQ(buffer.first, 0);
  EXPECT_EQ(buffer.last, 1);
  EXPECT_EQ(buffer.bytes, graph.type(h2).bytes());
}

TEST(Liveness, LetsAnOutputOverwriteAnInputThatEndsThere) {
  const Graph graph = branch();
  const auto buffer = by_value(liveness_of(graph));
  const auto output = [&](NodeId node) { return graph.node(node).outputs[0]; };
  EXPECT_EQ(buffer.at(output(0)), buffer.at(output(1))) << "relu over the tanh's output";
  EXPECT_NE(buffer.at(output(1)), buffer.at(output(2))) << "the branch still needs relu's input";
}

TEST(Liveness, LastsFromTheFirstWriteToTheLastRead) {
  const Graph graph = branch();
  const Liveness live = liveness_of(graph, {.in_place = false});
  ASSERT_EQ(live.buffers.size(), 4u);
  const std::pair<int, int> expected[] = {{0, 1}, {1, 3}, {2, 3}, {3, 3}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(std::pair(live.buffers[i].first, live.buffers[i].last), expected[i]) << i;
    EXPECT_EQ(live.buffers[i].bytes, 16) << i;
  }
}

TEST(Liveness, OverwritesNothingThatANodeReadsTwice) {
  ModelBuilder model;
  const auto h = model.apply("tanh", {model.input("x", {4})});
  model.apply("add", {h, h});
  EXPECT_EQ(liveness_of(model.graph()).buffers.size(), 2u);
}

TEST(Liveness, OverwritesNothingThatIsNotATemporary) {
  const Graph graph = branch();
  Placements placements = placements_of(graph);
  placements[index(graph.node(0).outputs[0])] = Placement{{.space = Space::stash}};
  const Liveness live = find_liveness(graph, all_nodes(graph), placements);
  EXPECT_FALSE(by_value(live).contains(graph.node(0).outputs[0]));
  EXPECT_EQ(live.buffers[0].first, 1);
}

Op with_workspace() {
  Op op = find_op("relu");
  op.workspace = [](const Attributes&, Types, Types) { return std::int64_t{100}; };
  return op;
}

TEST(Liveness, KeepsAWorkspaceForOneNodeOnly) {
  const Op op = with_workspace();
  ModelBuilder model;
  model.apply("relu", {model.apply(op, {model.input("x", {4})})});
  const Liveness live = liveness_of(model.graph());
  ASSERT_EQ(live.workspaces.size(), 2u);
  EXPECT_EQ(live.workspaces[0].second, 100);
  EXPECT_EQ(live.workspaces[1].second, 0);
  const Buffer& buffer = live.buffers[live.workspaces[0].first];
  EXPECT_EQ(std::pair(buffer.first, buffer.last), std::pair(0, 0));
}

/// Returns the byte range that each temporary occupies.
std::map<ValueId, std::pair<std::int64_t, std::int64_t>> ranges(const Graph& graph,
                                                                const Liveness& live) {
  const MemoryPlan plan = plan_memory(live.buffers);
  std::map<ValueId, std::pair<std::int64_t, std::int64_t>> result;
  for (const auto& [value, buffer] : live.values)
    result[value] = {plan.offsets[buffer], plan.offsets[buffer] + graph.type(value).bytes()};
  return result;
}

/// Follows what each byte range holds, and checks that each node finds its inputs as written.
void expect_inputs_intact(const Graph& graph, const Liveness& live) {
  const auto range = ranges(graph, live);
  std::map<ValueId, bool> intact;
  for (const Node& node : graph.nodes) {
    for (const ValueId input : node.inputs) {
      EXPECT_TRUE(!range.contains(input) || intact[input]) << node.name << " reads " << input;
    }
    for (const ValueId output : node.outputs) {
      for (auto& [other, whole] : intact)
        if (range.at(other).first < range.at(output).second &&
            range.at(output).first < range.at(other).second)
          whole = false;
      intact[output] = true;
    }
  }
}

TEST(Liveness, AndMemoryPlanLeaveEveryInputIntactInRandomNetworks) {
  std::size_t shared = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = testing::random_network(seed).graph();
    const Liveness live = liveness_of(graph);
    expect_inputs_intact(graph, live);
    shared += live.values.size() - live.buffers.size();
  }
  EXPECT_GT(shared, 100u) << "outputs computed in place";
}

}  // namespace
}  // namespace penstock::graph
