// These tests compare schedules with the tables of the reference systems: depths, ramps, lengths,
// efficiency, and what a micro-batch costs if all stages meet after each slot.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graph/plan/schedules/schedules.hpp"
#include "graph/plan/schedules/simulator.hpp"

namespace penstock::graph {
namespace {

Timeline run(const char* schedule, Discipline discipline, int stages, int micro_batches,
             std::vector<StageCost> costs = {}) {
  return simulate({.schedule = find_schedule(schedule),
                   .discipline = discipline,
                   .stages = stages,
                   .micro_batches = micro_batches,
                   .costs = std::move(costs)});
}

Timeline cycles(int stages, int micro_batches) {
  return run("grouped", Discipline::popart_cycle, stages, micro_batches);
}

int slots(const Timeline& timeline) {
  return timeline.runs.back().slot + 1;
}

int first_backward(const Timeline& timeline, int stage) {
  return std::ranges::find_if(timeline.runs,
                              [stage](const Run& run) {
                                return run.stage == stage && run.direction == Direction::backward;
                              })
      ->slot;
}

/// Returns the number of slots in which every stage works in both directions.
int full_slots(const Timeline& timeline) {
  std::vector<std::size_t> runs(static_cast<std::size_t>(slots(timeline)));
  for (const Run& run : timeline.runs) ++runs[static_cast<std::size_t>(run.slot)];
  return static_cast<int>(std::ranges::count(runs, 2 * timeline.ipus.size()));
}

/// An Efficiency has G, and the share of the time in which an IPU is busy, in thousandths.
struct Efficiency {
  int micro_batches;
  long share;
};

struct PopartRow {
  int stages;
  int least;  ///< This is the least number of micro-batches that fill the pipeline.
  int fill;   ///< This is the number of cycles before the first backward of stage 0.
  std::vector<int> depths;
  std::vector<Efficiency> efficiencies;
};

const PopartRow popart_rows[] = {
    {2, 3, 2, {3, 1}, {{3, 600}, {10, 833}, {16, 889}, {32, 941}}},
    {3, 5, 4, {5, 3, 1}, {{5, 556}, {10, 714}, {16, 800}, {32, 889}}},
    {4, 7, 6, {7, 5, 3, 1}, {{7, 538}, {10, 625}, {16, 727}, {32, 842}}},
    {8, 15, 14, {15, 13, 11, 9, 7, 5, 3, 1}, {{15, 517}, {16, 533}, {32, 696}}},
};

TEST(ScheduleTables, R3_1_PopartCyclesAreAsManyAsDeepAndAsBusyAsTheTableSays) {
  for (const auto& [stages, least, fill, depths, efficiencies] : popart_rows)
    for (const auto [micro_batches, share] : efficiencies) {
      SCOPED_TRACE(std::to_string(stages) + " stages, G " + std::to_string(micro_batches));
      const Timeline timeline = cycles(stages, micro_batches);
      EXPECT_EQ(slots(timeline), micro_batches + fill);
      EXPECT_EQ(timeline.max_in_flight, depths);
      EXPECT_EQ(first_backward(timeline, 0), fill);
      EXPECT_EQ(full_slots(timeline), micro_batches - fill);
      EXPECT_EQ(std::lround(1000 * utilization(timeline)), share);
    }
}

TEST(ScheduleTables, R3_1_TheLeastWindowIsTheFirstWithACycleInWhichAllStagesDoBoth) {
  for (const PopartRow& row : popart_rows) {
    EXPECT_EQ(full_slots(cycles(row.stages, row.least)), 1) << row.stages;
    EXPECT_EQ(full_slots(cycles(row.stages, row.least - 1)), 0) << row.stages;
  }
}

TEST(ScheduleTables, R3_1_PopartCyclesAreAsMuchFasterThanShardedAsTheTableSays) {
  const auto speedup = [](int stages) {
    return run("sequential", Discipline::free_running, stages, 10).total_time /
           cycles(stages, 10).total_time;
  };
  EXPECT_EQ(std::lround(100 * speedup(2)), 167);
  EXPECT_EQ(std::lround(100 * speedup(3)), 214);
  EXPECT_EQ(std::lround(100 * speedup(4)), 250);
  EXPECT_DOUBLE_EQ(1 / speedup(4), 0.4);
}

TEST(ScheduleTables, R3_5_EachScheduleTakesAsManySlotsAsTheTableSays) {
  for (const int stages : {2, 3, 4})
    for (const int windows : {1, 2, 5}) {
      const int g = windows * 2 * stages;
      SCOPED_TRACE(std::to_string(stages) + " stages, G " + std::to_string(g));
      EXPECT_EQ(slots(cycles(stages, g)), g + 2 * stages - 2);
      EXPECT_EQ(slots(run("grouped", Discipline::tf_grouped_step, stages, g)), g + 2 * stages - 1);
      EXPECT_EQ(slots(run("interleaved", Discipline::tf_interleaved_slot, stages, g)),
                2 * (g - 1) + 2 * stages);
      EXPECT_EQ(run("sequential", Discipline::free_running, stages, g).total_time, g * 2 * stages);
    }
}

/// Returns the time that one more micro-batch takes in a pipeline that is full.
double steady_cost(const char* schedule, Discipline discipline,
                   const std::vector<StageCost>& costs) {
  const auto stages = static_cast<int>(costs.size());
  const auto total = [&](int micro_batches) {
    return run(schedule, discipline, stages, micro_batches, costs).total_time;
  };
  return (total(60) - total(20)) / 40;
}

TEST(ScheduleTables, R3_5_InterleavedTakesFourThirdsOfGroupedWhereStagesMeetAfterEachSlot) {
  for (const int stages : {2, 3, 4}) {
    const std::vector<StageCost> balanced(static_cast<std::size_t>(stages), {1, 2});
    EXPECT_DOUBLE_EQ(steady_cost("grouped", Discipline::popart_cycle, balanced), 3);
    EXPECT_DOUBLE_EQ(steady_cost("grouped", Discipline::tf_grouped_step, balanced), 3);
    EXPECT_DOUBLE_EQ(steady_cost("interleaved", Discipline::tf_interleaved_slot, balanced), 4);
    for (const char* schedule : {"grouped", "interleaved"})
      EXPECT_DOUBLE_EQ(steady_cost(schedule, Discipline::free_running, balanced), 3) << schedule;
  }
}

TEST(ScheduleTables, R3_5_TheSlowestOfASlotDecidesWhatAMicroBatchCosts) {
  const std::vector<StageCost> costs{{1, 1}, {5, 2}, {1, 4}};
  EXPECT_DOUBLE_EQ(steady_cost("grouped", Discipline::popart_cycle, costs), 7);
  EXPECT_DOUBLE_EQ(steady_cost("grouped", Discipline::tf_grouped_step, costs), 7);
  // In one slot, stages 0 and 2 run forward and stage 1 backward. In the next slot, stages 0 and 2
  // run backward and stage 1 forward.
  EXPECT_DOUBLE_EQ(steady_cost("interleaved", Discipline::tf_interleaved_slot, costs), 2 + 5);
}

}  // namespace
}  // namespace penstock::graph
