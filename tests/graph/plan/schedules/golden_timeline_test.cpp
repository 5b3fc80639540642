// These tests compare the simulator with timelines of the reference systems, event by event.
#include <gtest/gtest.h>

#include <string>

#include "graph/plan/schedules/schedules.hpp"
#include "graph/plan/schedules/simulator.hpp"
#include "tests/support/golden_timelines.hpp"

namespace penstock::graph {
namespace {

using testing::golden_timelines;

class GoldenTimeline : public ::testing::TestWithParam<testing::GoldenTimeline> {};

// C1, C2, 3.1, 3.2 and 3.3 of docs/reference.md: the timelines are cycles of PopART, and grouped
// steps and interleaved slots of TensorFlow.
TEST_P(GoldenTimeline, IsReproducedEventByEvent) {
  const auto& [name, schedule, discipline, stages, micro_batches, table] = GetParam();
  const Timeline timeline = simulate({.schedule = find_schedule(schedule),
                                      .discipline = discipline,
                                      .stages = stages,
                                      .micro_batches = micro_batches});
  EXPECT_TRUE(timeline.stalled.empty());
  EXPECT_EQ("\n" + to_table(timeline), table);
}

INSTANTIATE_TEST_SUITE_P(Reference, GoldenTimeline, ::testing::ValuesIn(golden_timelines()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace penstock::graph
