#include "graph/passes/memory/prepare.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/compile/compile.hpp"
#include "graph/ir/op.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/plan_runner.hpp"
#include "tests/support/random_network.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/staged.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::Staged;
using Names = std::vector<std::string>;
using List = std::vector<std::int64_t>;

constexpr Offload everything{.on = true, .minimum_bytes = 0};

Names names_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  Names names;
  for (const NodeId id : nodes) names.push_back(graph.node(id).name);
  return names;
}

/// Returns the names of the nodes that are moved in each stage of `model`.
std::vector<Names> moved_nodes(const Graph& model, const OffloadOptions& offload = {}) {
  const Staged staged(model, false);
  const Prepared prepared = prepare(staged.graph, staged.partition, offload);
  std::vector<Names> moved;
  std::size_t nodes = 0;
  for (const StageGraph& stage : prepared.partition.stages) {
    moved.push_back(names_of(prepared.graph, stage.prepare));
    nodes += stage.forward.size() + stage.prepare.size();
  }
  EXPECT_EQ(nodes, prepared.graph.nodes.size()) << "each node is in one program";
  return moved;
}

ValueId turned(ModelBuilder& model, ValueId matrix, const std::string& name) {
  return model.apply("transpose", {matrix}, {{"axes", List{1, 0}}}, name);
}

TEST(Prepare, MovesWhatDependsOnVariablesAlone) {
  ModelBuilder model;
  const auto x = model.input("x", {4});
  const auto weight = model.apply("tanh", {model.parameter("w", {4, 4})}, {}, "bent");
  const auto scaled =
      model.apply("mul", {turned(model, weight, "turned"), model.buffer("b", {4})}, {}, "scaled");
  const auto y = model.apply("tanh", {model.apply("matmul", {x, scaled}, {}, "product")}, {}, "y");
  model.output("y", y);
  EXPECT_EQ(moved_nodes(model.graph()), (std::vector<Names>{{"bent", "turned", "scaled"}}));
}

// What the host gets lies in the stash, and what another stage gets is sent.
TEST(Prepare, LeavesWhatOthersGet) {
  ModelBuilder model;
  const auto x = model.input("x", {4}), w = model.parameter("w", {4, 4});
  const auto here = turned(model.block("A"), w, "here");
  const auto there = turned(model, w, "there");
  const auto out = turned(model, w, "out");
  const auto h = model.apply("matmul", {model.apply("matmul", {x, here}), out});
  const auto y = model.block("B").apply("matmul", {h, there}, {}, "y");
  model.output("y", y);
  model.output("out", out);
  EXPECT_EQ(moved_nodes(model.graph()), (std::vector<Names>{{"here"}, {}}));
}

/// This op maps (x, count [1]) to x, and counts its calls.
const Op counting{.name = "counting",
                  .infer =
                      [](const Attributes&, Types in) {
                        return std::vector<TensorType>{in[0], in[1]};
                      },
                  .forward = [](const KernelCall&) {},
                  .updates = {{1, 1}}};

TEST(Prepare, LeavesNodesThatChangeABufferAndWhatReadsIt) {
  ModelBuilder model;
  const auto x = model.input("x", {1}), count = model.buffer("count", {1});
  const auto read = model.apply("tanh", {count}, {}, "read");
  const auto w = model.parameter("w", {1, 1});
  const auto counted = model.apply(counting, {w, count}, {}, "counted");
  model.output("y", model.apply("add", {model.apply("matmul", {x, counted}), read}));
  EXPECT_EQ(moved_nodes(model.graph()), (std::vector<Names>{{}}));
}

TEST(Prepare, LeavesWhatMakesMuchOfLittle) {
  ModelBuilder model;
  const auto x = model.input("x", {4}), row = model.parameter("row", {1, 4});
  const auto twice = model.apply("concat", {row, row}, {{"axis", 0}}, "twice");
  const auto small = model.apply("matmul", {x, turned(model, twice, "turned")});
  const auto wide = model.apply("expand", {row}, {{"shape", List{40, 4}}}, "wide");
  model.output("y", model.apply("matmul", {x, turned(model, wide, "wide_turned")}));
  model.output("small", small);
  EXPECT_EQ(moved_nodes(model.graph()), (std::vector<Names>{{"twice", "turned"}}));
}

TEST(Prepare, LeavesWhatReadsWeightsOfTheHostStore) {
  ModelBuilder model;
  const auto x = model.input("x", {4});
  const auto w = turned(model, model.parameter("w", {4, 4}), "weight");
  const auto b = turned(model, model.buffer("b", {4, 4}), "buffer");
  model.output("y", model.apply("matmul", {model.apply("matmul", {x, w}), b}));
  EXPECT_EQ(moved_nodes(model.graph()), (std::vector<Names>{{"weight", "buffer"}}));
  EXPECT_EQ(moved_nodes(model.graph(), {.weights = everything}), (std::vector<Names>{{"buffer"}}));
}

/// Builds two convolutions in block A that share the weight "w", and one in block B. The last one
/// has weights that are computed of "v".
ModelBuilder convolutions() {
  ModelBuilder model;
  const auto x = model.input("x", {16, 8, 8}), w = model.parameter("w", {16, 16, 3, 3});
  const Attributes same_size{{"padding", 1}};
  auto h = model.block("A").apply("conv2d", {x, w}, same_size, "a");
  h = model.apply("relu", {h}, {}, "relu");
  h = model.apply("conv2d", {h, w, model.parameter("bias", {16})}, same_size, "b");
  h = model.block("B").apply("conv2d", {h, w}, same_size, "c");
  const auto v = model.apply("tanh", {model.parameter("v", {32, 16, 3, 3})}, {}, "v_bent");
  h = model.apply("conv2d", {h, v}, same_size, "d");
  model.output("y", h);
  return model;
}

TEST(Prepare, PacksWeightsOncePerStageForAllWhoReadThemAlike) {
  EXPECT_EQ(moved_nodes(convolutions().graph()),
            (std::vector<Names>{{"a/packed"}, {"v_bent", "c/packed", "d/packed"}}));
  EXPECT_EQ(moved_nodes(convolutions().graph(), {.weights = everything}),
            (std::vector<Names>{{}, {}}));
}

TEST(Prepare, KeepsOnlyWhatTheForwardReads) {
  const Plan plan = compile(convolutions().graph(), {.batch = 2}).plan;
  ASSERT_EQ(plan.stages.size(), 2U);
  constexpr std::int64_t packed = 16 * 9 * 32 * 4;
  EXPECT_EQ(plan.stages[0].prepared_bytes, packed);
  EXPECT_EQ(plan.stages[1].prepared_bytes, 2 * packed) << "v_bent is a temporary";
  EXPECT_EQ(plan.stages[0].parameter_bytes, 16 * 16 * 9 * 4 + 64);
}

TEST(Prepare, IsNotDoneInTraining) {
  ModelBuilder model = convolutions();
  const ValueId y = model.graph().outputs[0].value;
  model.loss(model.apply("mse_loss", {y, model.input("target", {32, 8, 8})}));
  const Plan plan = compile(model.graph(), {.training = true, .batch = 2}).plan;
  for (const StagePlan& stage : plan.stages) {
    EXPECT_TRUE(stage.prepare.instructions.empty());
    EXPECT_EQ(stage.prepared_bytes, 0);
  }
}

void expect_same_bits(const Graph& model, CompileRequest request) {
  const Plan prepared = compile(model, request).plan;
  request.prepare = false;
  const Plan plain = compile(model, request).plan;
  const auto inputs = testing::random_inputs(plain, 2);
  const auto expected = testing::window_results(plain, inputs);
  const auto actual = testing::window_results(prepared, inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_TRUE(testing::same_bits(actual[i], expected[i])) << "result " << i;
}

TEST(Prepare, ChangesNoBit) {
  for (const std::int64_t batch : {1, 3})
    for (const std::int32_t threads : {1, 3})
      expect_same_bits(convolutions().graph(), {.batch = batch, .threads_per_ipu = threads});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("network " + std::to_string(seed));
    expect_same_bits(testing::random_network(seed).graph(), {.batch = 3});
  }
}

}  // namespace
}  // namespace penstock::graph
