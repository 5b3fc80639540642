// These tests check when the running engine runs each program, if every program takes a known time.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "graph/plan/schedules/schedules.hpp"
#include "tests/support/golden_timelines.hpp"
#include "tests/support/timed_pipeline.hpp"

namespace penstock::actors {
namespace {

using graph::StageCost;
using graph::Timeline;
using testing::golden_timelines;
using testing::GoldenTimeline;
using testing::order_by_stage;
using testing::TimedPipeline;

using Costs = std::vector<StageCost>;
using Orders = std::vector<std::string>;

Timeline timeline_of(std::string_view schedule, int micro_batches, const Costs& costs,
                     std::optional<std::uint64_t> seed = {}) {
  TimedPipeline pipeline({.schedule = std::string(schedule),
                          .stages = std::ssize(costs),
                          .gradient_accumulation = micro_batches},
                         costs, seed);
  return pipeline.run_window();
}

Costs equal(int stages) {
  return Costs(static_cast<std::size_t>(stages), {1, 1});
}

class EngineTimeline : public ::testing::TestWithParam<GoldenTimeline> {};

// C1, C2, 3.1, 3.2, 3.3: in the reference system, all stages meet at the end of a cycle, a step or
// a slot. The engine has no such meetings, but each stage runs its programs in the same order.
TEST_P(EngineTimeline, HasTheOrderOfTheReferenceSystemInEveryStage) {
  const GoldenTimeline& golden = GetParam();
  const Timeline timeline =
      timeline_of(golden.schedule, golden.micro_batches, equal(golden.stages));
  const Orders expected = order_by_stage(golden.table, golden.stages);
  ASSERT_EQ(expected.size(), static_cast<std::size_t>(golden.stages));
  EXPECT_EQ(order_by_stage(to_table(timeline), golden.stages), expected);
}

INSTANTIATE_TEST_SUITE_P(Reference, EngineTimeline, ::testing::ValuesIn(golden_timelines()),
                         [](const auto& info) { return std::string(info.param.name); });

struct Scheduled {
  const char* schedule;
  int stages;
  int micro_batches;
  std::string table;
};

void PrintTo(const Scheduled& scheduled, std::ostream* stream) {
  *stream << scheduled.schedule;
}

class EngineSchedule : public ::testing::TestWithParam<Scheduled> {};

// C2, C3, 3.4: every program begins as soon as its inputs, its IPU and a credit are there.
TEST_P(EngineSchedule, RunsEveryProgramInTheTickInWhichItCan) {
  const auto& [schedule, stages, micro_batches, table] = GetParam();
  EXPECT_EQ("\n" + to_table(timeline_of(schedule, micro_batches, equal(stages))), table);
}

const Scheduled equal_stages[] = {
    {"grouped", 4, 8, R"(
cyc | IPU0     | IPU1     | IPU2     | IPU3    
  0 | F1       | .        | .        | .       
  1 | F2       | F1       | .        | .       
  2 | F3       | F2       | F1       | .       
  3 | F4       | F3       | F2       | F1      
  4 | F5       | F4       | F3       | B1      
  5 | F6       | F5       | B1       | F2      
  6 | F7       | B1       | F4       | B2      
  7 | B1       | F6       | B2       | F3      
  8 | F8       | B2       | F5       | B3      
  9 | B2       | F7       | B3       | F4      
 10 | .        | B3       | F6       | B4      
 11 | B3       | F8       | B4       | F5      
 12 | .        | B4       | F7       | B5      
 13 | B4       | .        | B5       | F6      
 14 | .        | B5       | F8       | B6      
 15 | B5       | .        | B6       | F7      
 16 | .        | B6       | .        | B7      
 17 | B6       | .        | B7       | F8      
 18 | .        | B7       | .        | B8      
 19 | B7       | .        | B8       | .       
 20 | .        | B8       | .        | .       
 21 | B8       | .        | .        | .       
)"},
    {"interleaved", 4, 8, R"(
cyc | IPU0     | IPU1     | IPU2     | IPU3    
  0 | F1       | .        | .        | .       
  1 | F2       | F1       | .        | .       
  2 | F3       | F2       | F1       | .       
  3 | F4       | F3       | F2       | F1      
  4 | .        | .        | .        | B1      
  5 | .        | .        | B1       | F2      
  6 | .        | B1       | F3       | B2      
  7 | B1       | F4       | B2       | F3      
  8 | F5       | B2       | F4       | B3      
  9 | B2       | F5       | B3       | F4      
 10 | F6       | B3       | F5       | B4      
 11 | B3       | F6       | B4       | F5      
 12 | F7       | B4       | F6       | B5      
 13 | B4       | F7       | B5       | F6      
 14 | F8       | B5       | F7       | B6      
 15 | B5       | F8       | B6       | F7      
 16 | .        | B6       | F8       | B7      
 17 | B6       | .        | B7       | F8      
 18 | .        | B7       | .        | B8      
 19 | B7       | .        | B8       | .       
 20 | .        | B8       | .        | .       
 21 | B8       | .        | .        | .       
)"},
    {"sequential", 4, 2, R"(
cyc | IPU0     | IPU1     | IPU2     | IPU3    
  0 | F1       | .        | .        | .       
  1 | .        | F1       | .        | .       
  2 | .        | .        | F1       | .       
  3 | .        | .        | .        | F1      
  4 | .        | .        | .        | B1      
  5 | .        | .        | B1       | .       
  6 | .        | B1       | .        | .       
  7 | B1       | .        | .        | .       
  8 | F2       | .        | .        | .       
  9 | .        | F2       | .        | .       
 10 | .        | .        | F2       | .       
 11 | .        | .        | .        | F2      
 12 | .        | .        | .        | B2      
 13 | .        | .        | B2       | .       
 14 | .        | B2       | .        | .       
 15 | B2       | .        | .        | .       
)"},
};

INSTANTIATE_TEST_SUITE_P(EqualStages, EngineSchedule, ::testing::ValuesIn(equal_stages),
                         [](const auto& info) { return std::string(info.param.schedule); });

/// These are the times of a forward and of a backward of each stage. In stages of equal cost, there
/// is never a forward and a backward that could run at the same moment, so that only credits
/// decide. If one stage is slower than the others, forwards and backwards pile up, and the schedule
/// has to choose.
const Costs slow_second_stage{{5, 5}, {16, 16}, {6, 6}, {7, 7}};

const std::pair<const char*, Orders> preferences[] = {
    {"grouped",
     {"F1 F2 F3 F4 F5 F6 F7 B1 F8 B2 B3 B4 B5 B6 B7 B8",
      "F1 F2 F3 F4 F5 B1 F6 B2 F7 B3 F8 B4 B5 B6 B7 B8",
      "F1 F2 B1 F3 B2 F4 B3 F5 B4 B5 F6 B6 F7 B7 F8 B8",
      "F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7 F8 B8"}},
    {"interleaved",
     {"F1 F2 F3 F4 B1 F5 B2 F6 B3 F7 B4 F8 B5 B6 B7 B8",
      "F1 F2 F3 B1 B2 B3 F4 F5 F6 B4 B5 B6 F7 F8 B7 B8",
      "F1 F2 B1 F3 B2 B3 F4 F5 B4 F6 B5 B6 F7 F8 B7 B8",
      "F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7 F8 B8"}},
};

// C2 of docs/reference.md: where both a forward and a backward could run, the schedule's preference
// goes first, whatever the order of the messages that arrive at the same time.
TEST(EngineTimelines, FollowThePreferenceOfTheScheduleWhereBothDirectionsAreReady) {
  for (const auto& [schedule, expected] : preferences)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(schedule + std::string(", seed ") + std::to_string(seed));
      ASSERT_EQ(order_by_stage(to_table(timeline_of(schedule, 8, slow_second_stage, seed)), 4),
                expected);
    }
}

using Event = std::tuple<double, int, graph::Direction, int>;

std::vector<Event> events_of(const Timeline& timeline) {
  std::vector<Event> events;
  for (const graph::Run& run : timeline.runs)
    events.emplace_back(run.time, run.stage, run.direction, run.micro_batch);
  std::ranges::sort(events);
  return events;
}

// The simulator predicts what the engine does, to the tick.
TEST(EngineTimelines, AreThoseOfTheFreeRunningSimulation) {
  for (const graph::Schedule* schedule : graph::all_schedules())
    for (const Costs& costs :
         {equal(1), equal(2), equal(4), slow_second_stage, Costs{{3, 6}, {3, 6}, {3, 6}, {3, 6}},
          Costs{{40, 70}, {30, 61}, {21, 40}, {11, 23}}})
      for (const int micro_batches : {1, 3, 9}) {
        SCOPED_TRACE(std::string(schedule->name) + ", " + std::to_string(micro_batches) +
                     " micro-batches, " + std::to_string(costs.size()) + " stages");
        const Timeline simulated = graph::simulate({.schedule = *schedule,
                                                    .stages = static_cast<int>(costs.size()),
                                                    .micro_batches = micro_batches,
                                                    .costs = costs});
        const Timeline run = timeline_of(schedule->name, micro_batches, costs);
        EXPECT_EQ(events_of(run), events_of(simulated));
        EXPECT_EQ(run.total_time, simulated.total_time);
      }
}

// The percentages are the share of the time in which the engine's four IPUs work if a backward
// takes twice as long as a forward.
TEST(EngineTimelines, KeepFourEqualStagesAsBusyAsTheClosedFormSays) {
  const Costs costs(4, {1, 2});
  for (const char* schedule : {"grouped", "interleaved"})
    for (const auto& [micro_batches, percent] : {std::pair{4, 57}, {10, 77}, {40, 93}})
      EXPECT_EQ(std::lround(100 * utilization(timeline_of(schedule, micro_batches, costs))),
                percent)
          << schedule << ", " << micro_batches << " micro-batches";
}

}  // namespace
}  // namespace penstock::actors
