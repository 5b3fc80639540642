#include "actors/execution/division.hpp"

#include <gtest/gtest.h>

#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using testing::refusal;

graph::Plan plan_on(const std::vector<std::int32_t>& ipus) {
  graph::Plan plan;
  for (const std::int32_t ipu : ipus) plan.stages.emplace_back().ipu = ipu;
  return plan;
}

std::string refused(const graph::Plan& plan, const std::vector<std::int32_t>& processes) {
  return refusal(Errc::invalid_topology, [&] { Division(plan, processes); });
}

TEST(Division, HasAllStagesInTheHostsProcessUnlessSaidOtherwise) {
  EXPECT_EQ(Division().process_of(3), host_process);
}

TEST(Division, SaysWhereEachStageIs) {
  const Division division(plan_on({0, 1, 2}), {2, 0, 1});
  EXPECT_EQ(division.process_of(0), 2);
  EXPECT_EQ(division.process_of(1), 0);
  EXPECT_EQ(division.process_of(2), 1);
}

TEST(Division, NeedsAProcessForEachStage) {
  EXPECT_EQ(refused(plan_on({0, 1}), {0}), "expected a process for each of 2 stages, got 1");
  EXPECT_EQ(refused(plan_on({0, 1}), {0, -1}),
            "expected the number of a process for stage 1, got -1");
}

TEST(Division, KeepsTheStagesOfAnIpuTogether) {
  EXPECT_EQ(refused(plan_on({0, 1, 0}), {0, 1, 1}),
            "stage 0, which is in process 0, and stage 2, which is in process 1, are on IPU 0: "
            "place both in one process");
  EXPECT_EQ(refused(plan_on({0, 1, 0}), {1, 0, 1}), "accepted");
}

TEST(Division, KeepsTheStagesOfASharedParameterTogether) {
  graph::Plan plan = plan_on({0, 1, 2});
  plan.variables = {{.name = "embedding"}};
  plan.stages[0].variables = {{.variable = 0, .copies = {{.stage = 2}}}};
  EXPECT_EQ(refused(plan, {0, 0, 1}),
            "stage 0, which is in process 0, and stage 2, which is in process 1, share the "
            "parameter \"embedding\": place both in one process");
  EXPECT_EQ(refused(plan, {1, 0, 1}), "accepted");
}

}  // namespace
}  // namespace penstock::actors
