// 3.7 and 3.8 of docs/reference.md: these tests check the simulated order of work in phases.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/plan/schedules/schedules.hpp"
#include "graph/plan/schedules/simulator.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

Phases phases_of(std::vector<std::int32_t> of_stage, std::int32_t turn, bool separate = false) {
  const std::int32_t phases = of_stage.back() + 1;
  return {.of_stage = std::move(of_stage),
          .numbers = number_phases(phases, PhaseLiveness::always_live, separate),
          .turn = turn};
}

Timeline run(const Phases& phases, int micro_batches, std::vector<int> ipus, bool training = true) {
  return simulate({.schedule = sequential,
                   .stages = static_cast<int>(phases.of_stage.size()),
                   .micro_batches = micro_batches,
                   .training = training,
                   .ipus = std::move(ipus),
                   .phases = phases});
}

/// Returns the runs as text: "F0.1" is the forward of stage 0 for micro-batch 1.
std::string order(const Timeline& timeline) {
  std::string text;
  for (const Run& run : timeline.runs)
    text += (text.empty() ? "" : " ") +
            std::string(run.direction == Direction::forward ? "F" : "B") +
            std::to_string(run.stage) + "." + std::to_string(run.micro_batch);
  return text;
}

TEST(PhasedSimulation, HasOneMicroBatchPassAllPhasesBeforeTheNext) {
  EXPECT_EQ(order(run(phases_of({0, 1, 2}, 1), 2, {0, 0, 0})),
            "F0.0 F1.0 F2.0 B2.0 B1.0 B0.0 F0.1 F1.1 F2.1 B2.1 B1.1 B0.1");
}

TEST(PhasedSimulation, HasOnePhaseDoAllMicroBatchesOfABatchSerialTurn) {
  EXPECT_EQ(order(run(phases_of({0, 1, 2}, 3), 3, {0, 0, 0})),
            "F0.0 F0.1 F0.2 F1.0 F1.1 F1.2 F2.0 B2.0 F2.1 B2.1 F2.2 B2.2 B1.0 B1.1 B1.2 B0.0 B0.1 "
            "B0.2");
  EXPECT_EQ(order(run(phases_of({0, 1}, 2, true), 2, {0, 0})),
            "F0.0 F0.1 F1.0 F1.1 B1.0 B1.1 B0.0 B0.1");
}

TEST(PhasedSimulation, HoldsAsManyMicroBatchesAsATurnHas) {
  const Timeline timeline = run(phases_of({0, 1, 2}, 4), 4, {0, 0, 0});
  EXPECT_EQ(timeline.max_in_flight, (std::vector{4, 4, 1})) << "the last phase turns round at once";
  EXPECT_EQ(run(phases_of({0, 1, 2}, 4, true), 4, {0, 0, 0}).max_in_flight, (std::vector{4, 4, 4}));
}

TEST(PhasedSimulation, HasTheStagesOfAPhaseWorkAtTheSameTime) {
  const Timeline timeline = run(phases_of({0, 0, 1, 1}, 4, true), 4, {0, 1, 0, 1});
  EXPECT_TRUE(timeline.stalled.empty());
  EXPECT_EQ(timeline.total_time, 4 * 5) << "four turns, each of four micro-batches and a bubble";
}

TEST(PhasedSimulation, EndsWhateverThePhases) {
  for (const bool separate : {false, true})
    for (const bool training : {false, true})
      for (const std::int32_t turn : {1, 2, 5})
        for (const auto& of_stage : std::vector<std::vector<std::int32_t>>{
                 {0}, {0, 1}, {0, 0, 0}, {0, 0, 1, 1, 2}, {0, 1, 1, 2, 3, 3}}) {
          const Timeline timeline =
              run(phases_of(of_stage, turn, separate), 2 * turn, {}, training);
          EXPECT_TRUE(timeline.stalled.empty());
          EXPECT_EQ(timeline.runs.size(), of_stage.size() * (training ? 4 : 2) * turn);
        }
}

TEST(PhasedSimulation, IsRefusedWithPhasesOfOtherStagesOrInLockStep) {
  Simulation simulation{.schedule = sequential, .stages = 3, .phases = phases_of({0, 1}, 1)};
  EXPECT_EQ(testing::refusal(Errc::invalid_argument, [&] { simulate(simulation); }),
            "pipeline simulation: expected one phase for each of 3 stages, got 2");
  simulation.stages = 2;
  simulation.discipline = Discipline::popart_cycle;
  EXPECT_EQ(testing::refusal(Errc::invalid_argument, [&] { simulate(simulation); }),
            "pipeline simulation: in lock step a stage has no phase of its own");
}

}  // namespace
}  // namespace penstock::graph
