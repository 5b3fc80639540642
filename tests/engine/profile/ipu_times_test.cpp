#include "engine/profile/ipu_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace penstock {
namespace {

constexpr std::int64_t second = 1'000'000'000;

TEST(IpuTimes, DividesACallByWhatTheIpuDidAndWhatItWaitedFor) {
  IpuTimes times;
  times.add_ipu(2);
  const std::vector<TraceEvent> events{{.ipu = 2,
                                        .activity = Activity::forward,
                                        .waited_for = WaitReason::input,
                                        .ready_ns = 12 * second,
                                        .begin_ns = 13 * second,
                                        .end_ns = 17 * second},
                                       {.ipu = 2,
                                        .activity = Activity::update,
                                        .waited_for = WaitReason::gate,
                                        .ready_ns = 18 * second,
                                        .begin_ns = 18 * second,
                                        .end_ns = 19 * second}};
  times.add_call(10 * second, 20 * second, events);
  const TimeSplit& seconds = times.of_ipus().at(2);
  EXPECT_DOUBLE_EQ(seconds.of(WaitReason::input), 2);
  EXPECT_DOUBLE_EQ(seconds.of(WaitReason::dispatch), 1);
  EXPECT_DOUBLE_EQ(seconds.of(Activity::forward), 4);
  EXPECT_DOUBLE_EQ(seconds.of(WaitReason::gate), 1);
  EXPECT_DOUBLE_EQ(seconds.of(Activity::update), 1);
  EXPECT_DOUBLE_EQ(seconds.of(WaitReason::call_end), 1);
  EXPECT_DOUBLE_EQ(seconds.total(), 10);
}

TEST(IpuTimes, LeavesOutWhatLiesOutsideTheCall) {
  IpuTimes times;
  times.add_ipu(0);
  const std::vector<TraceEvent> events{
      {.ready_ns = 0, .begin_ns = 5 * second, .end_ns = 12 * second},
      {.ready_ns = 12 * second, .begin_ns = 19 * second, .end_ns = 30 * second},
      {.ready_ns = 12 * second, .begin_ns = 31 * second, .end_ns = 32 * second}};
  times.add_call(10 * second, 20 * second, events);
  const TimeSplit& seconds = times.of_ipus().at(0);
  EXPECT_DOUBLE_EQ(seconds.busy(), 3);
  EXPECT_DOUBLE_EQ(seconds.total(), 10);
}

TEST(IpuTimes, OfAnIpuThatDoesNothingEndWithTheCall) {
  IpuTimes times;
  times.add_ipu(7);
  times.add_call(0, 4 * second, {});
  EXPECT_DOUBLE_EQ(times.of_ipus().at(7).of(WaitReason::call_end), 4);
}

TEST(IpuTimes, AddUpToTheCallsWhateverTheEventsAre) {
  std::mt19937 random(14);
  for (int round = 0; round < 200; ++round) {
    IpuTimes times;
    for (int ipu = 0; ipu < 3; ++ipu) times.add_ipu(ipu);
    std::int64_t now = 0, wall = 0;
    for (int call = 0; call < 3; ++call) {
      const auto span = static_cast<std::int64_t>(random() % second);
      std::vector<TraceEvent> events;
      for (int i = 0; i < 40; ++i) {
        const auto at = [&] { return now + static_cast<std::int64_t>(random() % (2 * second)); };
        const std::int64_t begin = at();
        events.push_back({.ipu = static_cast<std::int32_t>(random() % 3),
                          .activity = static_cast<Activity>(random() % activities),
                          .waited_for = static_cast<WaitReason>(random() % wait_reasons),
                          .ready_ns = at(),
                          .begin_ns = begin,
                          .end_ns = begin + static_cast<std::int64_t>(random() % second)});
      }
      std::ranges::sort(events, {}, &TraceEvent::begin_ns);
      times.add_call(now, now + span, events);
      wall += span;
      now += span + second;
    }
    for (const auto& [ipu, seconds] : times.of_ipus())
      EXPECT_NEAR(seconds.total(), static_cast<double>(wall) * 1e-9, 1e-9) << "IPU " << ipu;
  }
}

}  // namespace
}  // namespace penstock
