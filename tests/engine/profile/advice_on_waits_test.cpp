#include "engine/profile/advice_on_waits.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace penstock {
namespace {

/// Returns a profile of two IPUs that have worked for `seconds` of 10, and have waited for `reason`
/// in the rest.
Profile waited_for(WaitReason reason, double seconds) {
  Profile profile{.processors = 1, .call_seconds = 10, .elapsed_seconds = 10};
  for (int number = 0; number < 2; ++number) {
    IpuProfile& ipu = profile.ipus.emplace_back();
    ipu.ipu = number;
    ipu.seconds.active[0] = 10 - seconds;
    ipu.seconds.waiting[static_cast<std::size_t>(reason)] = seconds;
  }
  return profile;
}

TEST(AdviceOnWaits, NamesWhatTookLongAndNothingElse) {
  const std::pair<WaitReason, const char*> expected[] = {{WaitReason::dispatch, "processors"},
                                                         {WaitReason::host_store, "offload"},
                                                         {WaitReason::outputs, "outputs"},
                                                         {WaitReason::gate, "updates"}};
  for (const auto& [reason, topic] : expected) {
    const std::vector<ProfileAdvice> found = advice_on_waits(waited_for(reason, 2));
    ASSERT_EQ(found.size(), 1U) << topic;
    EXPECT_EQ(found[0].topic, topic);
    EXPECT_NE(found[0].text.find(" 20 % "), std::string::npos) << found[0].text;
    EXPECT_TRUE(advice_on_waits(waited_for(reason, 0.9)).empty()) << topic;
  }
}

TEST(AdviceOnWaits, LeavesToTheScheduleWhatStagesWaitForFromEachOther) {
  for (const WaitReason reason : {WaitReason::input, WaitReason::gradient, WaitReason::credit})
    EXPECT_TRUE(advice_on_waits(waited_for(reason, 5)).empty()) << to_string(reason);
}

TEST(AdviceOnWaits, SaysThatReplicasWaitForTheSlowest) {
  Profile profile = waited_for(WaitReason::gate, 5);
  EXPECT_EQ(advice_on_waits(profile)[0].text.find("slowest replica"), std::string::npos);
  profile.replicas = 2;
  EXPECT_NE(advice_on_waits(profile)[0].text.find("slowest replica"), std::string::npos);
}

TEST(AdviceOnWaits, SaysWhatTheHostWouldGain) {
  Profile profile = waited_for(WaitReason::input, 0);
  profile.elapsed_seconds = 20;
  const std::vector<ProfileAdvice> found = advice_on_waits(profile);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].topic, "host");
  EXPECT_DOUBLE_EQ(found[0].speedup, 2);
}

TEST(AdviceOnMemory, IsGivenWhereTheBudgetIsNearlyUsedUp) {
  Profile profile = waited_for(WaitReason::input, 0);
  EXPECT_TRUE(advice_on_memory(profile).empty()) << "there is no budget";
  IpuMemory& memory = profile.ipus[1].memory;
  memory.budget_bytes = 1000;
  memory.peak_bytes = 890;
  EXPECT_TRUE(advice_on_memory(profile).empty());
  memory.peak_bytes = 950;
  memory.class_bytes[static_cast<std::size_t>(MemoryClass::stash)] = 500;
  std::vector<ProfileAdvice> found = advice_on_memory(profile);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].text.starts_with("IPU 1 uses 95 % of its memory.")) << found[0].text;
  EXPECT_NE(found[0].text.find("options.training.recompute"), std::string::npos);
  memory.class_bytes[static_cast<std::size_t>(MemoryClass::stash)] = 100;
  found = advice_on_memory(profile);
  EXPECT_NE(found[0].text.find("options.training.offload"), std::string::npos);
}

}  // namespace
}  // namespace penstock
