#include "engine/profile/use_over_time.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock {
namespace {

TraceEvent program(int stage, Activity activity, std::int64_t micro_batch, std::int64_t begin_ns) {
  return {.ipu = stage,
          .stage = stage,
          .activity = activity,
          .micro_batch = micro_batch,
          .begin_ns = begin_ns,
          .end_ns = begin_ns + 5};
}

/// Returns a profile of one IPU that has 100 bytes of weights, works with 30, and keeps 7 of each
/// micro-batch.
Profile one_ipu(bool training, std::vector<TraceEvent> events) {
  Profile profile{.training = training, .events = std::move(events)};
  IpuProfile& ipu = profile.ipus.emplace_back();
  ipu.memory.class_bytes = {100, 0, 0, 14, 30};
  profile.stages.push_back({.ipus = {0}, .stash_bytes = 7});
  return profile;
}

std::string text_of(const std::vector<IpuUse>& uses) {
  std::string text;
  for (const IpuUse& use : uses)
    text += std::to_string(use.time_ns) + ": " + std::to_string(use.in_flight) + " in flight, " +
            std::to_string(use.resident_bytes) + '+' + std::to_string(use.stash_bytes) + '+' +
            std::to_string(use.working_bytes) + "; ";
  return text;
}

TEST(UseOverTime, GrowsWithForwardsAndShrinksWithBackwards) {
  const Profile profile =
      one_ipu(true, {program(0, Activity::forward, 0, 10), program(0, Activity::forward, 1, 20),
                     program(0, Activity::backward, 0, 30), program(0, Activity::update, 1, 35),
                     program(0, Activity::backward, 1, 40)});
  EXPECT_EQ(text_of(use_over_time(profile, profile.events)),
            "10: 1 in flight, 100+7+30; 15: 1 in flight, 100+7+0; "
            "20: 2 in flight, 100+14+30; 25: 2 in flight, 100+14+0; "
            "30: 2 in flight, 100+14+30; 35: 1 in flight, 100+7+0; "
            "40: 1 in flight, 100+7+30; 45: 0 in flight, 100+0+0; ");
}

TEST(UseOverTime, OfInferenceEndsWithTheForward) {
  const Profile profile = one_ipu(false, {program(0, Activity::forward, 0, 10)});
  EXPECT_EQ(text_of(use_over_time(profile, profile.events)),
            "10: 1 in flight, 100+7+30; 15: 0 in flight, 100+0+0; ");
}

TEST(UseOverTime, DoesNotCountWhatWasThereBeforeTheFirstEvent) {
  const Profile profile = one_ipu(true, {program(0, Activity::backward, 0, 10)});
  EXPECT_EQ(text_of(use_over_time(profile, profile.events)),
            "10: 0 in flight, 100+0+30; 15: 0 in flight, 100+0+0; ");
}

}  // namespace
}  // namespace penstock
