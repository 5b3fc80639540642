// These tests profile the running engine, whose programs take known times, and compare the profile
// with what the schedule demands.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/profile/make_profile.hpp"
#include "engine/profile/profile_recorder.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "tests/support/timed_pipeline.hpp"

namespace penstock::testing {
namespace {

using Costs = std::vector<graph::StageCost>;

constexpr int stages = 4;
constexpr int micro_batches = 10;
const Costs equal_costs(stages, {10, 20});

/// Returns the profile of a window whose programs take `costs` milliseconds.
Profile profile_of(std::string_view schedule, const Costs& costs, int processors) {
  TimedPipeline pipeline({.schedule = std::string(schedule),
                          .stages = stages,
                          .gradient_accumulation = micro_batches,
                          .trace = true},
                         costs, {}, processors);
  const graph::Timeline timeline = pipeline.run_window();
  const std::vector<TraceEvent> events = pipeline.take_events();
  ProfileRecorder recorder(pipeline.plan(), 1, micro_batches);
  recorder.add_call({.micro_batches = micro_batches,
                     .end_ns = static_cast<std::int64_t>(timeline.total_time * 1e6)},
                    micro_batches, events);
  const CompileReport compile;
  return make_profile(
      recorder, events,
      {.plan = *pipeline.plan(), .compile = compile, .stages = {}, .processors = processors});
}

TEST(RunningProfile, H2_MeasuresTheBubbleThatTheSimulatorPredicts) {
  for (const char* schedule : {"grouped", "interleaved", "sequential"})
    for (const int processors : {0, 1, 2, 3})
      for (const Costs& costs : {equal_costs, Costs{{4, 7}, {3, 6}, {12, 25}, {5, 9}}}) {
        SCOPED_TRACE(schedule + std::string(" on processors: ") + std::to_string(processors));
        const BubbleProfile bubble = profile_of(schedule, costs, processors).bubble;
        EXPECT_NEAR(bubble.measured, bubble.predicted, 0.03);
      }
}

TEST(RunningProfile, H2_MeasuresTheClosedFormWhereEqualStagesHaveAProcessorEach) {
  EXPECT_NEAR(profile_of("grouped", equal_costs, 0).bubble.measured, 3.0 / 13, 1e-9);
}

TEST(RunningProfile, H2_HasEachProgramOnceAndAllOfTheTime) {
  for (const int processors : {0, 2}) {
    const Profile profile = profile_of("grouped", equal_costs, processors);
    std::set<std::tuple<int, Activity, std::int64_t>> programs;
    for (const TraceEvent& event : profile.events)
      if (event.activity != Activity::update) {
        EXPECT_TRUE(programs.emplace(event.stage, event.activity, event.micro_batch).second);
      }
    EXPECT_EQ(programs.size(), 2U * stages * micro_batches);
    for (const IpuProfile& ipu : profile.ipus) {
      EXPECT_NEAR(ipu.seconds.of(Activity::forward), 10 * 0.010, 1e-9);
      EXPECT_NEAR(ipu.seconds.of(Activity::backward), 10 * 0.020, 1e-9);
      EXPECT_NEAR(ipu.seconds.total(), profile.call_seconds, 1e-9);
    }
  }
}

// Stages before the slow one hold as many micro-batches as they may, and wait for gradients of the
// slow stage. Stages behind it wait for what it computes and, once they have all of a window, for
// the update.
TEST(RunningProfile, H2_ShowsASlowStageInTheWaitsOfTheOthersAndNamesIt) {
  for (int slow = 0; slow < stages; ++slow) {
    SCOPED_TRACE("slow stage: " + std::to_string(slow));
    Costs costs = equal_costs;
    costs[static_cast<std::size_t>(slow)] = {50, 100};
    const Profile profile = profile_of("grouped", costs, 0);
    for (const IpuProfile& ipu : profile.ipus) {
      SCOPED_TRACE("IPU " + std::to_string(ipu.ipu));
      const TimeSplit& seconds = ipu.seconds;
      const double of_slow = seconds.of(WaitReason::input) + seconds.of(WaitReason::gate);
      const double of_gradients = seconds.of(WaitReason::gradient) + seconds.of(WaitReason::credit);
      EXPECT_NEAR(of_slow + of_gradients, seconds.idle(), 1e-9);
      if (ipu.ipu == slow) {
        EXPECT_GT(seconds.busy(), 0.9 * seconds.total());
        continue;
      }
      EXPECT_GT(seconds.idle(), 0.75 * seconds.total());
      EXPECT_EQ(ipu.ipu > slow, of_slow > of_gradients);
    }
    const auto split = std::ranges::find(profile.advice, "split", &ProfileAdvice::topic);
    ASSERT_NE(split, profile.advice.end());
    EXPECT_TRUE(split->text.starts_with("Stage " + std::to_string(slow) + " ")) << split->text;
    EXPECT_GT(split->speedup, 1.5);
  }
}

}  // namespace
}  // namespace penstock::testing
