#include "actors/execution/thread_team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/thread_count.hpp"

namespace penstock::actors {
namespace {

/// Returns how often each part of a call was run.
std::vector<int> runs_of(ThreadTeam& team, std::int32_t parts) {
  std::vector<int> runs(static_cast<std::size_t>(parts));
  team.run(parts, [&](std::int32_t part) { ++runs[static_cast<std::size_t>(part)]; });
  return runs;
}

TEST(ThreadTeam, RunsEachPartOnceHoweverManyThereAre) {
  for (const std::int32_t threads : {1, 2, 3, 8}) {
    ThreadTeam team("team", threads);
    EXPECT_EQ(team.threads(), threads);
    for (const std::int32_t parts : {0, 1, 2, 3, 100})
      EXPECT_EQ(runs_of(team, parts), std::vector<int>(static_cast<std::size_t>(parts), 1))
          << parts << " parts, " << threads << " threads";
  }
}

TEST(ThreadTeam, HasDoneEverythingWhenACallReturns) {
  ThreadTeam team("team", 3);
  std::vector<std::int64_t> values(3);
  for (std::int64_t call = 0; call < 20'000; ++call) {
    team.run(3, [&](std::int32_t part) { values[static_cast<std::size_t>(part)] += call; });
    ASSERT_EQ(std::accumulate(values.begin(), values.end(), std::int64_t{0}),
              3 * call * (call + 1) / 2);
  }
}

TEST(ThreadTeam, WakesAThreadForEachPart) {
  ThreadTeam team("team", 4);
  std::atomic<int> here{0};
  std::vector<std::thread::id> ids(4);
  // No part goes on before all four parts have begun, so that four threads are needed.
  team.run(4, [&](std::int32_t part) {
    ids[static_cast<std::size_t>(part)] = std::this_thread::get_id();
    for (++here; here < 4;) std::this_thread::yield();
  });
  const std::set<std::thread::id> different(ids.begin(), ids.end());
  EXPECT_EQ(different.size(), 4u);
  EXPECT_TRUE(different.contains(std::this_thread::get_id())) << "the caller takes part";
}

TEST(ThreadTeam, GivesTheCallerAndAHelperTheSamePartsInEachCall) {
  ThreadTeam team("team", 2);
  for (int call = 0; call < 100; ++call) {
    std::atomic<int> here{0};
    std::vector<std::thread::id> ids(2);
    // Neither part goes on before both have begun, so that each thread runs one of them.
    team.run(2, [&](std::int32_t part) {
      ids[static_cast<std::size_t>(part)] = std::this_thread::get_id();
      for (++here; here < 2;) std::this_thread::yield();
    });
    ASSERT_EQ(ids[0], std::this_thread::get_id());
  }
}

TEST(ThreadTeam, DoesNotWaitForHelpersThatTakeNothing) {
  ThreadTeam team("team", 2);
  int calls = 0;
  for (int i = 0; i < 1000; ++i) team.run(1, [&](std::int32_t) { ++calls; });
  EXPECT_EQ(calls, 1000);
}

TEST(ThreadTeam, ThrowsOnWhatTheLowestPartThatFailedThrew) {
  ThreadTeam team("team", 3);
  for (int i = 0; i < 200; ++i) {
    std::atomic<int> runs{0};
    try {
      team.run(6, [&](std::int32_t part) {
        ++runs;
        if (part % 2 == 1) throw std::runtime_error("part " + std::to_string(part));
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "part 1");
    }
    EXPECT_EQ(runs, 6) << "the others run all the same";
    EXPECT_EQ(runs_of(team, 3), std::vector<int>(3, 1)) << "and the team goes on";
  }
}

TEST(ThreadTeam, FlushesDenormalsOnItsThreads) {
  ThreadTeam team("team", 2);
  std::atomic<int> here{0};
  std::vector<float> halves(2);
  const auto caller = std::this_thread::get_id();
  team.run(2, [&](std::int32_t) {
    for (++here; here < 2;) std::this_thread::yield();
    volatile float smallest = 1.1754944e-38f;
    halves[std::this_thread::get_id() == caller ? 0 : 1] = smallest / 2;
  });
  EXPECT_NE(halves[0], 0) << "the caller's thread is its own";
#if defined(__x86_64__) || defined(__aarch64__)
  EXPECT_EQ(halves[1], 0);
#endif
}

TEST(ThreadTeam, LeavesNoThreadBehind) {
  const std::size_t before = testing::thread_count();
  for (int i = 0; i < 20; ++i) {
    ThreadTeam team("team", 5);
    EXPECT_EQ(testing::thread_count(), before + 4);
    if (i % 2 == 0) runs_of(team, 5);
  }
  EXPECT_TRUE(testing::threads_fall_to(before));
}

}  // namespace
}  // namespace penstock::actors
