#include "graph/passes/stages/atoms.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/passes/network/differentiate.hpp"
#include "tests/support/model_builder.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using Names = std::vector<std::string>;

/// Returns the names of the nodes of each atom, as one text per atom.
Names names_of(const Graph& graph, const std::vector<Atom>& atoms) {
  Names names;
  for (const Atom& atom : atoms) {
    names.emplace_back();
    for (NodeId id = atom.first; id < atom.last; ++id)
      names.back() += (id == atom.first ? "" : " ") + graph.node(id).name;
  }
  return names;
}

std::vector<std::int64_t> bytes_before(const std::vector<Atom>& atoms) {
  std::vector<std::int64_t> bytes;
  for (const Atom& atom : atoms) bytes.push_back(atom.bytes_before);
  return bytes;
}

/// Returns a -> b -> c with a skip connection from a to c, then the loss. Every value except the
/// loss has 16 bytes.
Graph chain() {
  ModelBuilder model;
  const auto x = model.input("x", {4}), target = model.input("target", {4});
  const auto a = model.block("A").apply("mul", {x, model.parameter("w", {4})}, {}, "a");
  const auto b = model.apply("tanh", {a}, {}, "b");
  const auto c = model.block("B").apply("add", {b, a}, {}, "c");
  model.loss(model.block("C").apply("mse_loss", {c, target}, {}, "loss"));
  return model.graph();
}

TEST(Atoms, AreSingleNodesWhereNothingHoldsThemTogether) {
  const Graph graph = differentiate(chain());
  EXPECT_EQ(names_of(graph, find_atoms(graph)), (Names{"a", "b", "c", "loss"}));
}

TEST(Atoms, KnowWhatTravelsInBothDirectionsIfAStageBeginsThere) {
  // If a stage begins with b, it gets a, and sends back the gradients of a through b and through c,
  // which the stage of a adds up. If a stage begins with c, it gets a and b, and sends back the
  // gradient of c, which is the gradient of both its inputs. If a stage begins with the loss, it
  // gets c and sends back its gradient.
  EXPECT_EQ(bytes_before(find_atoms(differentiate(chain()))),
            (std::vector<std::int64_t>{0, 48, 48, 32}));
  EXPECT_EQ(bytes_before(find_atoms(chain())), (std::vector<std::int64_t>{0, 16, 32, 16}))
      << "inference has no gradients";
}

/// Returns layers a to e. Layers b and d use the same value w, which `shared` makes. Every value
/// has 16 bytes.
Graph sharing(ValueId (ModelBuilder::*shared)(const std::string&, const Shape&)) {
  ModelBuilder model;
  const auto x = model.input("x", {4}), w = (model.*shared)("w", {4});
  const auto a = model.apply("tanh", {x}, {}, "a"), b = model.apply("mul", {a, w}, {}, "b");
  const auto c = model.apply("tanh", {b}, {}, "c"), d = model.apply("mul", {c, w}, {}, "d");
  model.output("e", model.apply("tanh", {d}, {}, "e"));
  return model.graph();
}

TEST(Atoms, KeepTheUsersOfABufferTogether) {
  const Graph graph = sharing(&ModelBuilder::buffer);
  EXPECT_EQ(names_of(graph, find_atoms(graph)), (Names{"a", "b c d", "e"}));
}

TEST(Atoms, AreBetweenTheUsersOfAParameterWhichThenTravelsToo) {
  const Graph graph = sharing(&ModelBuilder::parameter);
  EXPECT_EQ(names_of(graph, find_atoms(graph)), (Names{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(bytes_before(find_atoms(graph)), (std::vector<std::int64_t>{0, 16, 32, 32, 16}));
}

TEST(Atoms, BeginWithOneThatReadsAnInput) {
  ModelBuilder model;
  const auto x = model.input("x", {4}), w = model.parameter("w", {4});
  const auto a = model.apply("tanh", {w}, {}, "a"), b = model.apply("tanh", {a}, {}, "b");
  model.output("d", model.apply("tanh", {model.apply("mul", {x, b}, {}, "c")}, {}, "d"));
  EXPECT_EQ(names_of(model.graph(), find_atoms(model.graph())), (Names{"a b c", "d"}));
}

TEST(Atoms, HoldTheGradientsOfTheirNodes) {
  const Graph graph = differentiate(chain());
  const auto atom_of = atom_of_nodes(graph, find_atoms(graph));
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    EXPECT_EQ(atom_of[id], node.backward ? node.forward_of : static_cast<NodeId>(id)) << node.name;
  }
}

TEST(Cut, MakesBlocksOfStagesThatNameTheModelsBlocks) {
  const Graph whole = differentiate(chain());
  const std::vector<std::int32_t> begins{0, 1, 3};
  const auto [graph, stages] = cut(whole, find_atoms(whole), begins, {7, 7, 2});
  ASSERT_EQ(stages.stages.size(), 3U);
  EXPECT_EQ(stages.stages[0].blocks, (Names{"A"}));
  EXPECT_EQ(stages.stages[1].blocks, (Names{"A", "B"}));
  EXPECT_EQ(stages.stages[2].blocks, (Names{"C"}));
  EXPECT_EQ(stages.stages[1].ipu, 7);
  EXPECT_EQ(stages.stages[2].ipu, 2);
  const std::int32_t stage_of_atom[] = {0, 1, 1, 2};
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    const NodeId forward = node.backward ? node.forward_of : static_cast<NodeId>(id);
    EXPECT_EQ(stages.of(node), stage_of_atom[forward]) << node.name;
  }
}

TEST(Cut, PutsAStageOnTheIpuOfItsNumberUnlessTold) {
  const Graph graph = chain();
  const std::vector<std::int32_t> begins{0, 2};
  const StageAssignment stages = cut(graph, find_atoms(graph), begins, {}).assignment;
  EXPECT_EQ(stages.stages[0].ipu, 0);
  EXPECT_EQ(stages.stages[1].ipu, 1);
}

}  // namespace
}  // namespace penstock::graph
