#include "tests/engine/profile/simulated_profiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "engine/profile/make_profile.hpp"
#include "engine/profile/prediction.hpp"

namespace penstock::testing {
namespace {

Profile profile_of(const graph::Simulation& simulation, int calls, int processors = 0) {
  const auto plan = chain_plan(simulation.stages, simulation.training, simulation.schedule);
  const CompileReport compile;
  return make_profile(recorded(plan, simulation, calls), {},
                      {.plan = *plan, .compile = compile, .stages = {}, .processors = processors});
}

const ProfileAdvice* find(const Profile& profile, std::string_view topic) {
  const auto found = std::ranges::find(profile.advice, topic, &ProfileAdvice::topic);
  return found == profile.advice.end() ? nullptr : &*found;
}

TEST(SimulatedProfile, H2_MeasuresTheBubbleThatTheSchedulePredicts) {
  for (const graph::Schedule* schedule : graph::all_schedules())
    for (const int processors : {0, 2, 3})
      for (const int micro_batches : {1, 4, 10, 40}) {
        const graph::Simulation simulation{.schedule = *schedule,
                                           .stages = 4,
                                           .micro_batches = micro_batches,
                                           .costs = {{1, 2}, {1, 2}, {1.5, 2.5}, {1, 2}},
                                           .processors = processors};
        const Profile profile = profile_of(simulation, 3, processors);
        const double expected = 1 - graph::utilization(graph::simulate(simulation));
        EXPECT_NEAR(profile.bubble.measured, expected, 1e-6) << schedule->name << micro_batches;
        EXPECT_NEAR(profile.bubble.predicted, expected, 1e-6) << schedule->name << micro_batches;
        EXPECT_DOUBLE_EQ(profile.bubble.closed_form, 3.0 / (micro_batches + 3));
      }
}

TEST(SimulatedProfile, H2_HasTheClosedFormsBubbleWhereStagesAreEqual) {
  const graph::Simulation simulation{
      .schedule = graph::grouped, .stages = 4, .micro_batches = 10, .costs = {4, {1, 2}}};
  const Profile profile = profile_of(simulation, 1);
  EXPECT_NEAR(profile.bubble.measured, profile.bubble.closed_form, 1e-6);
}

TEST(SimulatedProfile, H2_DividesTheTimeOfAllCalls) {
  const graph::Simulation simulation{
      .schedule = graph::interleaved, .stages = 3, .micro_batches = 6, .costs = {3, {1, 2}}};
  const Profile profile = profile_of(simulation, 4);
  EXPECT_EQ(profile.calls, 4U);
  EXPECT_EQ(profile.micro_batches, 24);
  ASSERT_EQ(profile.ipus.size(), 3U);
  for (const IpuProfile& ipu : profile.ipus) {
    EXPECT_NEAR(ipu.seconds.total(), profile.call_seconds, 1e-6);
    EXPECT_NEAR(ipu.seconds.of(Activity::forward), 24, 1e-6);
    EXPECT_NEAR(ipu.seconds.of(Activity::backward), 48, 1e-6);
  }
  for (const StageProfile& stage : profile.stages) {
    EXPECT_EQ(stage.forward.runs, 24U);
    EXPECT_NEAR(stage.backward.mean_seconds(), 2, 1e-6);
    EXPECT_NEAR(stage.share, 1.0 / 3, 1e-6);
  }
}

TEST(SimulatedProfile, H2_NamesAStageThatIsSlowAndShowsTheOthersWait) {
  for (int slow = 0; slow < 4; ++slow) {
    std::vector<graph::StageCost> costs(4, {1, 2});
    costs[static_cast<std::size_t>(slow)] = {4, 8};
    const graph::Simulation simulation{
        .schedule = graph::grouped, .stages = 4, .micro_batches = 10, .costs = costs};
    const Profile profile = profile_of(simulation, 2);
    const ProfileAdvice* split = find(profile, "split");
    ASSERT_NE(split, nullptr);
    const std::string name =
        "Stage " + std::to_string(slow) + " (B" + std::to_string(slow + 1) + ")";
    EXPECT_TRUE(split->text.starts_with(name + " takes longest: 12000.00 ms of 21000.00 ms"))
        << split->text;
    // Balanced stages cost 21/4 each, and a window of 10 takes (10 + 3) times as long.
    const double now = graph::simulate(simulation).total_time;
    EXPECT_NEAR(split->speedup, now / (13 * 21.0 / 4), 0.05);
    for (const IpuProfile& ipu : profile.ipus) {
      const double idle = ipu.seconds.idle() / ipu.seconds.total();
      EXPECT_EQ(idle < 0.3, ipu.ipu == slow) << "IPU " << ipu.ipu << ": " << idle;
    }
  }
}

TEST(SimulatedProfile, H2_AdvisesNothingWhereNothingIsToBeGained) {
  const graph::Simulation simulation{
      .schedule = graph::grouped, .stages = 1, .micro_batches = 10, .costs = {{1, 2}}};
  const auto plan = chain_plan(1, true, graph::grouped);
  const graph::Timeline timeline = graph::simulate(simulation);
  ProfileRecorder recorder(plan, 1, 10);
  recorder.add_call({.micro_batches = 10, .end_ns = 30'000'000'000}, 10, events_of(timeline, 0, 0));
  const CompileReport compile;
  EXPECT_TRUE(
      make_profile(recorder, {}, {.plan = *plan, .compile = compile, .stages = {}}).advice.empty());
}

TEST(SimulatedProfile, H2_ExpectsOfLongerWindowsWhatTheyWouldGain) {
  const graph::Simulation simulation{
      .schedule = graph::grouped, .stages = 4, .micro_batches = 4, .costs = {4, {1, 2}}};
  const Profile profile = profile_of(simulation, 1);
  const ProfileAdvice* windows = find(profile, "accumulation");
  ASSERT_NE(windows, nullptr);
  // (4 + 3) slots for 4 micro-batches become (8 + 3) slots for 8.
  EXPECT_NEAR(windows->speedup, (7.0 / 4) / (11.0 / 8), 0.01);
  EXPECT_NE(windows->text.find("Windows of 8 "), std::string::npos) << windows->text;
}

TEST(SimulatedProfile, ExpectsOfAnotherScheduleWhatTheSimulatorSaysOfIt) {
  std::mt19937 random(1);
  int advised = 0, left_out = 0;
  for (int draw = 0; draw < 300; ++draw) {
    std::vector<graph::StageCost> costs;
    for (int stage = 0; stage < 4; ++stage)
      costs.push_back({1.0 + random() % 5, 1.0 + random() % 9});
    const graph::Simulation simulation{.schedule = graph::interleaved,
                                       .stages = 4,
                                       .micro_batches = 4 + static_cast<int>(random() % 12),
                                       .costs = std::move(costs)};
    const Profile profile = profile_of(simulation, 1);
    const double gain =
        window_seconds(simulation) / window_seconds(with_schedule(simulation, graph::grouped));
    const ProfileAdvice* schedule = find(profile, "schedule");
    EXPECT_EQ(schedule != nullptr, gain >= 1.05) << gain;
    schedule ? ++advised : ++left_out;
    if (!schedule) continue;
    EXPECT_NEAR(schedule->speedup, gain, 1e-6);
    EXPECT_TRUE(schedule->text.starts_with("The schedule \"grouped\" ")) << schedule->text;
  }
  EXPECT_GT(advised, 0);
  EXPECT_GT(left_out, 0);
}

TEST(SimulatedProfile, SaysWhatAPipelineWouldGainWhereOneIpuWorksAtATime) {
  const graph::Simulation simulation{
      .schedule = graph::sequential, .stages = 4, .micro_batches = 8, .costs = {4, {1, 2}}};
  const Profile profile = profile_of(simulation, 1);
  const ProfileAdvice* schedule = find(profile, "schedule");
  ASSERT_NE(schedule, nullptr);
  // (8 + 3) slots in place of 8 * 4.
  EXPECT_NEAR(schedule->speedup, 32.0 / 11, 1e-6);
  EXPECT_TRUE(schedule->text.starts_with("One IPU of each replica works at a time."))
      << schedule->text;
}

// Each of four replicas does all four stages of a micro-batch in 12 time units. The pipeline does a
// window of 4 micro-batches in 7 slots of 3 time units each.
TEST(SimulatedProfile, ExpectsOfReplicasThatNoneWaitsForAnother) {
  const graph::Simulation simulation{
      .schedule = graph::grouped, .stages = 4, .micro_batches = 4, .costs = {4, {1, 2}}};
  const Profile profile = profile_of(simulation, 1, 4);
  const ProfileAdvice* replicas = find(profile, "replicas");
  ASSERT_NE(replicas, nullptr);
  EXPECT_NEAR(replicas->speedup, (4 / 12.0) / (4 / 21.0), 1e-6);
  EXPECT_TRUE(replicas->text.starts_with("4 replicas of a single stage ")) << replicas->text;
  EXPECT_EQ(find(profile_of(simulation, 1, 1), "replicas"), nullptr) << "there is one processor";
}

TEST(SimulatedProfile, H2_TellsOfTimeBetweenCalls) {
  const graph::Simulation simulation{
      .schedule = graph::grouped, .stages = 2, .micro_batches = 8, .costs = {2, {1, 2}}};
  const Profile profile = profile_of(simulation, 9);  // Nine of 17 equal spans are calls.
  const ProfileAdvice* host = find(profile, "host");
  ASSERT_NE(host, nullptr);
  EXPECT_NE(host->text.find("spent 47 % of the time outside the calls of this model"),
            std::string::npos);
}

TEST(SimulatedProfile, H2_OfInferenceMeasuresWholeCalls) {
  const graph::Simulation simulation{.schedule = graph::grouped,
                                     .stages = 3,
                                     .micro_batches = 5,
                                     .training = false,
                                     .costs = {3, {1, 0}}};
  const Profile profile = profile_of(simulation, 2);
  EXPECT_NEAR(profile.bubble.measured, 2.0 / 7, 1e-6);
  EXPECT_NEAR(profile.bubble.predicted, 2.0 / 7, 1e-6);
}

}  // namespace
}  // namespace penstock::testing
