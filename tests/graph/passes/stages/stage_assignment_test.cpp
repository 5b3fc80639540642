#include "graph/passes/stages/stage_assignment.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/passes/stages/find_stages.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;
using Stages = std::vector<StageRequest>;
using Ipus = std::vector<std::int32_t>;

/// Returns one layer for each element of `blocks`, one after the other.
Graph chain(const std::vector<Block>& blocks) {
  ModelBuilder model;
  ValueId x = model.input("x", {4});
  for (const Block& block : blocks)
    x = model.block(block.name, block.ipu).linear("fc_" + block.name, x, 4);
  return model.graph();
}

Graph abc() {
  return chain({{"A"}, {"B"}, {"C"}});
}

StageAssignment assigned(Graph model, Stages requests, const Ipus& ipus, bool training) {
  if (requests.empty()) requests = find_stages(model, StageRule::by_block);
  return assign_stages(model, requests, ipus, training);
}

std::vector<std::string> blocks_of(const StageAssignment& assignment) {
  std::vector<std::string> result;
  for (const StagePlacement& stage : assignment.stages) {
    result.emplace_back();
    for (const std::string& block : stage.blocks) result.back() += block;
  }
  return result;
}

Ipus ipus_of(const StageAssignment& assignment) {
  Ipus result;
  for (const StagePlacement& stage : assignment.stages) result.push_back(stage.ipu);
  return result;
}

// A9 of docs/reference.md: there is a stage for each block, in the order of the blocks.
TEST(StageAssignment, TakesAStagePerBlock) {
  const auto assignment = assigned(abc(), {}, {}, true);
  EXPECT_EQ(blocks_of(assignment), (std::vector<std::string>{"A", "B", "C"}));
  EXPECT_EQ(ipus_of(assignment), (Ipus{0, 1, 2}));
  EXPECT_EQ(assignment.of_block, (std::vector<std::int32_t>{0, 1, 2}));
}

// A7 of docs/reference.md: blocks are grouped into stages.
TEST(StageAssignment, GroupsBlocks) {
  const auto assignment = assigned(abc(), {{{"A", "B"}}, {{"C"}}}, {}, true);
  EXPECT_EQ(blocks_of(assignment), (std::vector<std::string>{"AB", "C"}));
  EXPECT_EQ(assignment.of_block, (std::vector<std::int32_t>{0, 0, 1}));
}

TEST(StageAssignment, MakesAModelWithoutBlocksOneStage) {
  ModelBuilder model;
  model.linear("fc", model.input("x", {4}), 4);
  const auto assignment = assigned(model.graph(), {}, {7}, true);
  EXPECT_EQ(ipus_of(assignment), (Ipus{7}));
}

struct Placement {
  const char* name;
  std::int32_t stage, block;  ///< These are the IPUs that the second stage and its block ask for.
  Ipus list;
  Ipus expected;
};

const Placement placements[] = {
    {"StageBeforeList", 9, 8, {5, 6, 7}, {5, 9, 7}},
    {"ListBeforeBlock", none, 8, {5, 6, 7}, {5, 6, 7}},
    {"BlockBeforeNumber", none, 8, {}, {0, 8, 2}},
    {"NumberAtLast", none, none, {}, {0, 1, 2}},
    {"SeveralStagesOnOneIpu", none, none, {1, 0, 1}, {1, 0, 1}},
};

class StagePlacementOrder : public ::testing::TestWithParam<Placement> {};

// A7 and G6 of docs/reference.md: if a stage gets an IPU from several places, the stage itself
// decides, then the list of IPUs, then the block, and at last the stage's number.
TEST_P(StagePlacementOrder, IsStageThenListThenBlockThenNumber) {
  const Placement& p = GetParam();
  const Graph model = chain({{"A"}, {"B", p.block}, {"C"}});
  const Stages stages{{{"A"}}, {{"B"}, p.stage}, {{"C"}}};
  EXPECT_EQ(ipus_of(assigned(model, stages, p.list, true)), p.expected);
}

INSTANTIATE_TEST_SUITE_P(Requests, StagePlacementOrder, ::testing::ValuesIn(placements),
                         [](const auto& info) { return std::string(info.param.name); });

Graph with_unused_block() {
  ModelBuilder model;
  model.block("A").block("loss");
  const auto h = model.block("A").linear("fc", model.input("x", {4}), 4);
  model.block("B").apply("relu", {h});
  return model.graph();
}

TEST(StageAssignment, LeavesAStageWithoutWorkOutOfInference) {
  const auto assignment = assigned(with_unused_block(), {}, {4, 5, 6}, false);
  EXPECT_EQ(blocks_of(assignment), (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(ipus_of(assignment), (Ipus{4, 6}));
  EXPECT_EQ(assignment.of_block, (std::vector<std::int32_t>{0, none, 1}));
  ASSERT_EQ(assignment.warnings.size(), 1u);
  EXPECT_EQ(assignment.warnings[0],
            "stage 1 (\"loss\") has nothing to compute in inference and is left out");
}

Graph with_block_less_node() {
  ModelBuilder model;
  const auto h = model.apply("relu", {model.input("x", {4})}, {}, "stray");
  model.block("A").linear("fc", h, 4);
  return model.graph();
}

Graph with_shared_buffer() {
  ModelBuilder model;
  const auto mean = model.buffer("mean", {4});
  const auto h = model.block("A").apply("add", {model.input("x", {4}), mean});
  model.block("B").apply("add", {h, mean});
  return model.graph();
}

struct Refusal {
  const char* name;
  Graph model;
  Stages stages;
  Ipus ipus;
  const char* text;
  Errc code = Errc::invalid_topology;
};

std::vector<Refusal> refusals() {
  return {
      {"UnknownBlock",
       abc(),
       {{{"A", "B"}}, {{"C", "D"}}},
       {},
       "stage 1: there is no block \"D\"; the model has \"A\", \"B\", \"C\""},
      {"BlockOfAModelWithoutBlocks",
       chain({}),
       {{{"A"}}},
       {},
       "stage 0: there is no block \"A\"; the model has no blocks"},
      {"BlockInTwoStages",
       abc(),
       {{{"A", "B"}}, {{"B", "C"}}},
       {},
       "block \"B\" is in stage 0 and in stage 1"},
      {"BlockTwiceInAStage",
       abc(),
       {{{"A", "A", "B", "C"}}},
       {},
       "block \"A\" is in stage 0 twice"},
      {"StageWithoutBlock", abc(), {{{"A", "B", "C"}}, {}}, {}, "stage 1 has no block"},
      {"BlockInNoStage", abc(), {{{"A"}}, {{"C"}}}, {}, "block \"B\" is in no stage"},
      {"NodeInNoBlock",
       with_block_less_node(),
       {},
       {},
       "relu \"stray\" belongs to no block; in a model with blocks every layer must"},
      {"StagesAgainstTheDataFlow",
       abc(),
       {{{"A", "C"}}, {{"B"}}},
       {},
       "linear \"fc_C\" in stage 0 needs the output of linear \"fc_B\" in stage 1; a stage can use "
       "only what it or an earlier stage computes"},
      {"BufferInTwoStages",
       with_shared_buffer(),
       {},
       {},
       "buffer \"mean\" is used in stage 0 and in stage 1; layers that share a buffer must be in "
       "one "
       "stage"},
      {"TooFewIpus",
       abc(),
       {},
       {0, 1},
       "options.topology.ipus: expected one IPU per stage, 3 (A|B|C), got 2"},
      {"TooManyIpus",
       abc(),
       {{{"A", "B", "C"}}},
       {0, 1},
       "options.topology.ipus: expected one IPU per stage, 1 (A,B,C), got 2"},
      {"NegativeIpuInTheList",
       abc(),
       {},
       {0, -1, 2},
       "stage 1: an IPU's number is 0 or more, got -1",
       Errc::invalid_argument},
      {"NegativeIpuOfAStage",
       abc(),
       {{{"A", "B", "C"}, -3}},
       {},
       "stage 0: an IPU's number is 0 or more, got -3",
       Errc::invalid_argument},
      {"BlocksOnTwoIpus",
       chain({{"A", 0}, {"B", 1}}),
       {{{"A", "B"}}},
       {},
       "stage 0: block \"A\" asks for IPU 0 and block \"B\" for IPU 1; say which one the stage is "
       "on"},
      {"StageWithoutWork",
       with_unused_block(),
       {},
       {},
       "stage 1 (\"loss\") has nothing to compute"},
  };
}

class StageAssignmentRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(StageAssignmentRefuses, WhatDoesNotFitAndSaysWhy) {
  const Refusal& r = GetParam();
  EXPECT_EQ(refusal(r.code, [&] { assigned(r.model, r.stages, r.ipus, true); }), r.text);
}

INSTANTIATE_TEST_SUITE_P(Requests, StageAssignmentRefuses, ::testing::ValuesIn(refusals()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace penstock::graph
