#include "graph/plan/schedules/simulator.hpp"
#include "graph/plan/schedules/schedules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

using Costs = std::vector<StageCost>;

Costs balanced(int stages, StageCost cost) {
  return Costs(static_cast<std::size_t>(stages), cost);
}

Costs random_costs(std::mt19937& random, int stages) {
  std::uniform_real_distribution<double> draw(0, 3);
  Costs costs = balanced(stages, {});
  for (StageCost& cost : costs) cost = {draw(random), draw(random)};
  return costs;
}

Timeline run(const Schedule& schedule, int stages, int micro_batches, Costs costs = {},
             std::vector<int> ipus = {}, bool training = true) {
  return simulate({.schedule = schedule,
                   .stages = stages,
                   .micro_batches = micro_batches,
                   .training = training,
                   .costs = std::move(costs),
                   .ipus = std::move(ipus)});
}

/// Checks a timeline against the rules of a pipeline from its runs alone: every micro-batch passes
/// every stage once in each direction, in order, after what it needs, on an IPU that is free.
void expect_legal(const Timeline& timeline, int micro_batches, bool training) {
  using Key = std::tuple<int, Direction, int>;
  std::map<Key, Run> by_key;
  for (const Run& run : timeline.runs)
    EXPECT_TRUE(by_key.emplace(Key{run.stage, run.direction, run.micro_batch}, run).second);
  const int stages = static_cast<int>(timeline.ipus.size());
  EXPECT_EQ(by_key.size(), static_cast<std::size_t>(stages * micro_batches * (training ? 2 : 1)));
  const auto after = [&](const Run& run, Key needed) {
    const auto found = by_key.find(needed);
    ASSERT_NE(found, by_key.end());
    EXPECT_GE(run.time, found->second.time + found->second.duration);
  };
  for (const auto& [key, run] : by_key) {
    const bool forward = run.direction == Direction::forward;
    if (run.micro_batch > 0) after(run, {run.stage, run.direction, run.micro_batch - 1});
    if (forward && run.stage > 0) after(run, {run.stage - 1, Direction::forward, run.micro_batch});
    if (!forward) after(run, {run.stage, Direction::forward, run.micro_batch});
    if (!forward && run.stage < stages - 1)
      after(run, {run.stage + 1, Direction::backward, run.micro_batch});
  }
  std::map<int, double> free_at;
  for (const Run& run : timeline.runs) {
    double& free = free_at[timeline.ipus[static_cast<std::size_t>(run.stage)]];
    EXPECT_GE(run.time, free);
    free = run.time + run.duration;
  }
}

/// Returns the most micro-batches that a stage held at once, computed from the runs alone.
int held_at_most(const Timeline& timeline, int stage) {
  int held = 0, most = 0;
  std::multimap<double, int> changes;
  for (const Run& run : timeline.runs) {
    if (run.stage != stage) continue;
    if (run.direction == Direction::forward)
      changes.emplace(run.time, +1);
    else
      changes.emplace_hint(changes.lower_bound(run.time + run.duration), run.time + run.duration,
                           -1);
  }
  for (const auto& [time, change] : changes) most = std::max(most, held += change);
  return most;
}

TEST(Simulator, RandomCostsAndPlacementsStayLegalAndWithinTheBounds) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const int stages = 1 + static_cast<int>(random() % 6);
    const int micro_batches = 1 + static_cast<int>(random() % 20);
    const bool training = random() % 3 != 0;
    std::vector<int> ipus;
    for (int stage = 0; stage < stages; ++stage) ipus.push_back(static_cast<int>(random() % 4));
    const Costs costs = random_costs(random, stages);
    for (const Schedule* schedule : all_schedules()) {
      SCOPED_TRACE("round " + std::to_string(round) + ", " + std::string(schedule->name));
      const Timeline timeline = run(*schedule, stages, micro_batches, costs, ipus, training);
      EXPECT_TRUE(timeline.stalled.empty());
      expect_legal(timeline, micro_batches, training);
      for (int stage = 0; stage < stages; ++stage) {
        const int high_water = timeline.max_in_flight[static_cast<std::size_t>(stage)];
        EXPECT_LE(high_water, schedule->in_flight(stage, stages));
        if (!training) continue;
        EXPECT_EQ(high_water, held_at_most(timeline, stage));
      }
    }
  }
}

// 3.2 and 3.3 of docs/reference.md: in lock step, each stage holds as many micro-batches as its
// schedule allows.
TEST(Simulator, LockStepReachesTheBoundsExactly) {
  const auto high_water = [](const char* schedule, Discipline discipline) {
    return simulate({.schedule = find_schedule(schedule),
                     .discipline = discipline,
                     .stages = 4,
                     .micro_batches = 8})
        .max_in_flight;
  };
  EXPECT_EQ(high_water("grouped", Discipline::popart_cycle), (std::vector{7, 5, 3, 1}));
  EXPECT_EQ(high_water("grouped", Discipline::tf_grouped_step), (std::vector{7, 5, 3, 1}));
  EXPECT_EQ(high_water("interleaved", Discipline::tf_interleaved_slot), (std::vector{4, 3, 2, 1}));
}

/// Returns the number of columns of a drawing before `slot` that are not empty. A slot has two
/// columns, one for each direction.
std::ptrdiff_t columns_before(const Timeline& timeline, int slot) {
  std::set<std::pair<int, Direction>> columns;
  for (const Run& run : timeline.runs)
    if (run.slot < slot) columns.emplace(run.slot, run.direction);
  return std::ssize(columns);
}

TEST(Simulator, C6_ThePipelineIsFullAfterAsManySlotsAsTheReferenceSystemsTake) {
  for (const int stages : {2, 4, 8}) {
    const auto of = [&](const char* schedule, Discipline discipline) {
      return simulate({.schedule = find_schedule(schedule),
                       .discipline = discipline,
                       .stages = stages,
                       .micro_batches = 3 * stages});
    };
    const Timeline popart = of("grouped", Discipline::popart_cycle);
    EXPECT_EQ(run_that_fills(popart)->slot, 2 * stages - 2);
    EXPECT_EQ(columns_before(popart, 2 * stages - 2), 3 * stages - 3);
    EXPECT_EQ(ramp(popart), 2 * stages - 1);
    const Timeline interleaved = of("interleaved", Discipline::tf_interleaved_slot);
    EXPECT_EQ(run_that_fills(interleaved)->slot, 2 * stages - 1);
    EXPECT_EQ(ramp(interleaved), stages);
    const Timeline grouped = of("grouped", Discipline::tf_grouped_step);
    EXPECT_EQ(run_that_fills(grouped)->slot, 2 * stages - 1);
  }
}

TEST(Simulator, FreeRunningEqualStagesReachTheBoundsExactly) {
  for (const StageCost cost : {StageCost{1, 1}, StageCost{1, 2}}) {
    const auto costs = balanced(4, cost);
    EXPECT_EQ(run(find_schedule("grouped"), 4, 7, costs).max_in_flight, (std::vector{7, 5, 3, 1}));
    EXPECT_EQ(run(find_schedule("interleaved"), 4, 7, costs).max_in_flight,
              (std::vector{4, 3, 2, 1}));
    EXPECT_EQ(run(find_schedule("sequential"), 4, 7, costs).max_in_flight,
              (std::vector{1, 1, 1, 1}));
  }
}

TEST(Simulator, BalancedPipelinesFollowTheClosedFormOfUtilization) {
  for (const char* schedule : {"grouped", "interleaved"})
    for (const int micro_batches : {1, 4, 10, 40}) {
      SCOPED_TRACE(std::string(schedule) + ", " + std::to_string(micro_batches));
      const Timeline timeline = run(find_schedule(schedule), 4, micro_batches, balanced(4, {1, 2}));
      EXPECT_DOUBLE_EQ(timeline.total_time, 3 * (micro_batches + 3));
      EXPECT_DOUBLE_EQ(utilization(timeline), micro_batches / (micro_batches + 3.0));
    }
}

TEST(Simulator, FewerIpusThanStagesHideTheBubbles) {
  const auto percent = [](int micro_batches) {
    return std::lround(100 * utilization(run(find_schedule("interleaved"), 4, micro_batches,
                                             balanced(4, {1, 2}), {0, 1, 0, 1})));
  };
  EXPECT_GT(percent(10), 77);
  EXPECT_GT(percent(40), 93);
  EXPECT_EQ(utilization(run(find_schedule("grouped"), 4, 5, {}, {0, 0, 0, 0})), 1);
}

// C3 of docs/reference.md: one of four stages works at a time, so that the pipeline does a quarter
// of what it could.
TEST(Simulator, SequentialKeepsOneStageBusyAtATime) {
  for (const bool training : {true, false}) {
    const Timeline timeline = run(find_schedule("sequential"), 4, 5, {}, {}, training);
    EXPECT_DOUBLE_EQ(timeline.total_time, training ? 5 * 2 * 4 : 5 * 4);
    EXPECT_DOUBLE_EQ(utilization(timeline), 0.25);
  }
}

TEST(Simulator, InferenceStreamsThroughThePipelineWithoutBackwards) {
  for (const char* schedule : {"grouped", "interleaved"}) {
    const Timeline timeline = run(find_schedule(schedule), 4, 10, {}, {}, false);
    EXPECT_DOUBLE_EQ(timeline.total_time, 10 + 3);
    expect_legal(timeline, 10, false);
  }
}

TEST(Simulator, ASlowStageStopsTheStagesBeforeIt) {
  const Timeline timeline =
      run(find_schedule("interleaved"), 3, 20, {{1, 1}, {1, 1}, {10, 1}}, {}, false);
  EXPECT_EQ(timeline.max_in_flight, (std::vector{3, 2, 1}));
}

TEST(Simulator, EveryScheduleFinishesUnderEveryDiscipline) {
  for (const Schedule* schedule : all_schedules())
    for (const Discipline discipline :
         {Discipline::free_running, Discipline::popart_cycle, Discipline::tf_grouped_step,
          Discipline::tf_interleaved_slot})
      for (const int stages : {1, 2, 3, 4, 7})
        for (const bool training : {true, false}) {
          const Timeline timeline = simulate({.schedule = *schedule,
                                              .discipline = discipline,
                                              .stages = stages,
                                              .micro_batches = 5,
                                              .training = training});
          EXPECT_TRUE(timeline.stalled.empty()) << schedule->name << ", " << stages;
          expect_legal(timeline, 5, training);
        }
}

TEST(Simulator, AScheduleThatCannotProgressIsExplained) {
  const Schedule starving{.name = "starving",
                          .in_flight = [](int stage, int) { return stage == 1 ? 0 : 2; },
                          .prefers = Direction::backward};
  for (const Discipline discipline : {Discipline::free_running, Discipline::popart_cycle}) {
    const Timeline timeline =
        simulate({.schedule = starving, .discipline = discipline, .stages = 3, .micro_batches = 4});
    std::set<std::string> reasons;
    for (const Wait& wait : timeline.stalled) reasons.insert(to_string(wait));
    EXPECT_EQ(reasons,
              (std::set<std::string>{
                  "stage 0: forward of micro-batch 2 waits for a credit",
                  "stage 0: backward of micro-batch 0 waits for its gradient",
                  "stage 1: forward of micro-batch 0 waits for a credit",
                  "stage 1: backward of micro-batch 0 waits for its gradient",
                  "stage 2: forward of micro-batch 0 waits for the activation of the stage before",
                  "stage 2: backward of micro-batch 0 waits for its gradient",
              }));
  }
}

TEST(Simulator, RefusesNumbersThatMakeNoPipeline) {
  const Schedule& grouped = find_schedule("grouped");
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Simulation refused[] = {
      {.schedule = grouped, .stages = 0},
      {.schedule = grouped, .micro_batches = 0},
      {.schedule = grouped, .stages = 2, .costs = {{1, 1}}},
      {.schedule = grouped, .stages = 1, .costs = {{1, nan}}},
      {.schedule = grouped, .stages = 1, .costs = {{-1, 1}}},
      {.schedule = grouped, .stages = 2, .ipus = {0}},
      {.schedule = grouped, .discipline = Discipline::popart_cycle, .stages = 2, .ipus = {0, 0}},
  };
  for (const Simulation& simulation : refused) EXPECT_THROW(simulate(simulation), Error);
}

TEST(Simulator, NeverHasMoreRunsAtATimeThanProcessors) {
  const Schedule& schedule = find_schedule("grouped");
  for (const int processors : {1, 2, 3}) {
    const Timeline timeline =
        simulate({.schedule = schedule, .stages = 4, .micro_batches = 9, .processors = processors});
    EXPECT_TRUE(timeline.stalled.empty());
    for (const auto& run : timeline.runs) {
      const auto at_once = std::ranges::count(timeline.runs, run.time, &graph::Run::time);
      EXPECT_LE(at_once, processors);
    }
    EXPECT_GE(timeline.total_time, 4 * 9 * 2.0 / processors);
  }
  EXPECT_THROW(simulate({.schedule = schedule, .processors = -1}), Error);
}

}  // namespace
}  // namespace penstock::graph
