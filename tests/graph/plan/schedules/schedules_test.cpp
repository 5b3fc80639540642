#include "graph/plan/schedules/schedules.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

std::vector<int> bounds(std::string_view name, int stages) {
  std::vector<int> result;
  for (int stage = 0; stage < stages; ++stage)
    result.push_back(find_schedule(name).in_flight(stage, stages));
  return result;
}

// C1, C2 and C3 of docs/reference.md: a schedule says how many micro-batches each of four stages
// may hold.
TEST(Schedule, BoundsWhatAStageMayHold) {
  EXPECT_EQ(bounds("grouped", 4), (std::vector{7, 5, 3, 1}));
  EXPECT_EQ(bounds("interleaved", 4), (std::vector{4, 3, 2, 1}));
  EXPECT_EQ(bounds("sequential", 4), (std::vector{1, 1, 1, 1}));
}

TEST(Schedule, HoldsOneMicroBatchInAOneStagePipeline) {
  for (const Schedule* schedule : all_schedules())
    EXPECT_EQ(schedule->in_flight(0, 1), 1) << schedule->name;
}

TEST(Schedule, OnlySequentialHoldsOneMicroBatchInTheWholePipeline) {
  for (const Schedule* schedule : all_schedules())
    EXPECT_EQ(schedule->one_at_a_time, schedule->name == "sequential") << schedule->name;
}

// C1 and C2 of docs/reference.md: grouped and interleaved prefer different directions.
TEST(Schedule, PreferenceDecidesOnlyWhereBothAreReady) {
  for (const Schedule* schedule : all_schedules()) {
    EXPECT_EQ(next_direction(*schedule, false, false), std::nullopt);
    EXPECT_EQ(next_direction(*schedule, true, false), Direction::forward);
    EXPECT_EQ(next_direction(*schedule, false, true), Direction::backward);
  }
  EXPECT_EQ(next_direction(find_schedule("grouped"), true, true), Direction::forward);
  EXPECT_EQ(next_direction(find_schedule("interleaved"), true, true), Direction::backward);
}

TEST(Schedule, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    find_schedule("groped");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_STREQ(
        error.what(),
        "there is no schedule named \"groped\"; there are grouped, interleaved, sequential");
  }
}

}  // namespace
}  // namespace penstock::graph
