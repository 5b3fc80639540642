#include "graph/passes/stages/find_stages.hpp"

#include <gtest/gtest.h>

#include "graph/passes/stages/stage_assignment.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::refusal;

/// Returns one layer for each element of `blocks`, one after the other. A block may come back.
Graph chain(const std::vector<Block>& blocks) {
  testing::ModelBuilder model;
  ValueId x = model.input("x", {4});
  for (const Block& block : blocks) x = model.block(block.name, block.ipu).apply("relu", {x});
  return model.graph();
}

/// Returns a text such as "B1,B2@1|B3@0", with the blocks of each stage and its IPU.
std::string stages_of(const Graph& whole, StageRule rule) {
  const Graph model = in_runs_of_blocks(whole, rule);
  const auto requests = find_stages(model, rule);
  std::string text;
  for (const StagePlacement& stage : assign_stages(model, requests, {}, true).stages) {
    std::string blocks;
    for (const std::string& block : stage.blocks) blocks += (blocks.empty() ? "" : ",") + block;
    text += (text.empty() ? "" : "|") + blocks + "@" + std::to_string(stage.ipu);
  }
  return text;
}

struct Case {
  const char* name;
  StageRule rule;
  std::vector<Block> blocks;
  const char* expected;
};

const Case cases[] = {
    {"A9_AStagePerBlock", StageRule::by_block, {{"A"}, {"B", 5}, {"C"}}, "A@0|B@5|C@2"},
    {"A1_ABlockThatComesBackIsStillOne", StageRule::by_block, {{"A"}, {"A"}}, "A@0"},
    {"A10_BlocksOfOneIpuAreAStage",
     StageRule::same_as_ipu,
     {{"A", 0}, {"B", 0}, {"C", 1}, {"D", 3}},
     "A,B@0|C@1|D@3"},
    {"A10_AnIpuRevisitedHasSeveralStages",
     StageRule::auto_increment,
     {{"A", 0}, {"B", 1}, {"C", 2}, {"D", 1}},
     "A@0|B@1|C@2|D@1"},
    {"A10_ABlockThatComesBackIsAStageAgain",
     StageRule::auto_increment,
     {{"A"}, {"A"}, {"B", 7}, {"A"}, {"B"}},
     "A@0|B@7|A (2)@2|B (2)@7"},
    {"A10_ABlockThatComesBackTakesNobodysName",
     StageRule::auto_increment,
     {{"A"}, {"A (2)"}, {"A"}, {"A (2)"}, {"A"}},
     "A@0|A (2)@1|A (3)@2|A (2) (2)@3|A (4)@4"},
    {"ByBlockWithoutBlocks", StageRule::by_block, {}, "@0"},
    {"SameAsIpuWithoutBlocks", StageRule::same_as_ipu, {}, "@0"},
    {"AutoIncrementWithoutBlocks", StageRule::auto_increment, {}, "@0"},
};

class FindStages : public ::testing::TestWithParam<Case> {};

TEST_P(FindStages, ByTheRule) {
  const Case& c = GetParam();
  Graph model = chain(c.blocks);
  if (c.blocks.empty()) {
    testing::ModelBuilder without;
    without.apply("relu", {without.input("x", {4})});
    model = without.graph();
  }
  EXPECT_EQ(stages_of(model, c.rule), c.expected);
}

INSTANTIATE_TEST_SUITE_P(Rules, FindStages, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

// If the layers of an inner scope come first, its block comes first, too, so that the outer block's
// layers can use what the inner block computes.
TEST(FindStages, OrderBlocksByTheirFirstNodes) {
  testing::ModelBuilder model;
  model.block("outer").block("idle").block("inner");
  const auto x = model.apply("relu", {model.input("x", {4})});
  model.block("outer").apply("relu", {x});
  std::string order;
  for (const StageRequest& stage : find_stages(model.graph(), StageRule::by_block))
    order += stage.blocks.at(0) + " ";
  EXPECT_EQ(order, "inner outer idle ");
}

TEST(FindStages, A10_SameAsIpuRefusesABlockWithoutOne) {
  const Graph model = chain({{"A", 0}, {"B"}});
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { find_stages(model, StageRule::same_as_ipu); }),
            "options.topology.stage_rule: same_as_ipu expects an IPU of every block, but block "
            "\"B\" names none");
}

TEST(FindStages, A10_SameAsIpuGoesBackToNoEarlierIpu) {
  EXPECT_EQ(
      refusal(Errc::invalid_topology,
              [&] {
                stages_of(chain({{"A", 0}, {"B", 1}, {"C", 0}}), StageRule::same_as_ipu);
              }),
      "relu \"relu_3\" in stage 0 needs the output of relu \"relu_2\" in stage 1; a stage can "
      "use only what it or an earlier stage computes");
}

}  // namespace
}  // namespace penstock::graph
