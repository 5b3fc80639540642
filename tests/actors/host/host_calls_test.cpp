#include "actors/host/host_calls.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/allocation_counter.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using testing::AllocationFailures;
using testing::FailsOn;
using testing::refusal;

TEST(HostCalls, ReturnsTheAnswerOfTheCall) {
  HostCalls host;
  host.begin();
  EXPECT_FALSE(host.answered());
  host.call.answer(CutAfter{3});
  EXPECT_TRUE(host.answered());
  EXPECT_NE(refusal(Errc::busy, [&] { host.begin(); }), "accepted");
  EXPECT_NE(refusal(Errc::busy, [&] { host.expect_idle(); }), "accepted");
  EXPECT_NE(refusal(Errc::busy, [&] { host.expect_idle_or_failed(); }), "accepted");
  EXPECT_EQ(std::get<CutAfter>(host.wait(0)).micro_batches, 3);
  EXPECT_FALSE(host.expect_idle_or_failed());
  host.begin();
}

TEST(HostCalls, ReportsAFailureRatherThanAnAnswer) {
  HostCalls host;
  host.begin();
  host.call.answer(Done{});
  host.failure.fail({Errc::stage_failed, "too late to be ignored"});
  EXPECT_EQ(refusal(Errc::stage_failed, [&] { host.wait(0); }), "too late to be ignored");
}

const std::function<void(HostCalls&)> ways_to_meet_a_failure[] = {
    [](HostCalls& host) { host.begin(); }, [](HostCalls& host) { host.expect_idle(); }};

/// This text is so long that a std::string allocates memory for it.
const std::string gate_failure = "the gate: no gradient has come, and none will come any more";

TEST(HostCalls, ThrowAFailureBetweenThemAsItselfOnceAndThenAsClosed) {
  for (const auto& call : ways_to_meet_a_failure)
    for (const auto& later : ways_to_meet_a_failure) {
      HostCalls host;
      host.failure.fail({Errc::out_of_memory, gate_failure});
      EXPECT_EQ(refusal(Errc::out_of_memory, [&] { call(host); }), gate_failure);
      EXPECT_EQ(refusal(Errc::closed, [&] { later(host); }),
                "the model has failed before and cannot go on: " + gate_failure);
    }
}

TEST(HostCalls, KeepAFailureThatTheCallHadNoMemoryFor) {
  HostCalls host;
  host.begin();
  host.failure.fail({Errc::stage_failed, gate_failure});
  {
    const AllocationFailures none(1, 1000, FailsOn::this_thread);
    EXPECT_THROW(host.wait(0), std::bad_alloc);
  }
  EXPECT_EQ(refusal(Errc::stage_failed, [&] { host.begin(); }), gate_failure);
}

TEST(HostCalls, GiveUpAPipelineThatIsSilentEvenWithoutMemory) {
  HostCalls host;
  host.begin();
  {
    const AllocationFailures none(1, 1000, FailsOn::this_thread);
    EXPECT_THROW(host.wait(0.001), std::bad_alloc);
  }
  EXPECT_FALSE(host.call.awaits_answer());
  EXPECT_NE(refusal(Errc::stalled, [&] { host.begin(); }).find("has not answered"),
            std::string::npos);
}

TEST(HostCalls, LetAFailedPipelineBeReadWhoseCallNobodyEnds) {
  HostCalls host;
  host.begin();
  host.failure.fail({Errc::internal, "bad"});
  EXPECT_TRUE(host.expect_idle_or_failed());
}

TEST(HostCalls, WakeTheHostFromAnotherThreadWithAnAnswerOrAFailure) {
  for (const bool fails : {false, true}) {
    HostCalls host;
    host.begin();
    std::thread engine([&] {
      if (fails)
        host.failure.fail({Errc::internal, "bad"});
      else
        host.call.answer(Done{});
    });
    EXPECT_EQ(refusal(Errc::internal, [&] { host.wait(3600); }), fails ? "bad" : "accepted");
    engine.join();
  }
}

TEST(HostCalls, GiveUpAPipelineThatIsSilent) {
  HostCalls host;
  host.begin();
  const auto text = refusal(Errc::stalled, [&] { host.wait(0.001); });
  EXPECT_NE(text.find("has not answered"), std::string::npos);
  EXPECT_EQ(refusal(Errc::closed, [&] { host.begin(); }),
            "the model has failed before and cannot go on: " + text);
}

TEST(HostCalls, WaitForAPipelineThatMovesLongerThanTheirLimit) {
  HostCalls host;
  host.begin();
  std::thread engine([&] {
    // The call takes three times the limit of 0.5 s, but something moves all the time.
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    while (std::chrono::steady_clock::now() < end) host.pulse.beat();
    host.call.answer(Done{});
  });
  EXPECT_EQ(refusal(Errc::stalled, [&] { host.wait(0.5); }), "accepted");
  engine.join();
}

/// The function counted_now() was called this many times. A look that sees a move calls it.
std::atomic<int> readings = 0;
Stillness::Clock::time_point counted_now() noexcept {
  ++readings;
  return Stillness::Clock::now();
}

TEST(HostCalls, SeeAMoveLongBeforeTheirLimit) {
  using namespace std::chrono_literals;
  HostCalls host(&counted_now);
  host.begin();
  std::thread engine([&] {
    for (int move = 0; move < 3; ++move) {
      const int before = readings;
      host.pulse.beat();
      const auto end = std::chrono::steady_clock::now() + 60s;
      while (readings == before && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(1ms);
      EXPECT_NE(readings, before) << "the silence after move " << move << " is counted from a look";
    }
    host.call.answer(Done{});
  });
  host.wait(3600);
  engine.join();
}

TEST(HostCalls, CallTheWatchdogTwiceWhereNothingMoves) {
  HostCalls host;
  host.begin();
  std::vector<std::uint64_t> seen;
  const auto watchdog = [&](std::uint64_t beats, double) {
    seen.push_back(beats);
    if (seen.size() == 2) host.failure.fail({Errc::stalled, "the feed sleeps"});
  };
  EXPECT_EQ(refusal(Errc::stalled, [&] { host.wait(0.001, watchdog); }), "the feed sleeps");
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{host.pulse.beats(), host.pulse.beats()}));
}

TEST(HostCalls, CallTheWatchdogAfreshAfterSomethingHasMoved) {
  HostCalls host;
  host.begin();
  std::vector<std::uint64_t> seen;
  const auto watchdog = [&](std::uint64_t beats, double) {
    seen.push_back(beats);
    if (seen.size() < 3) host.pulse.beat();
    if (seen.size() == 3) host.call.answer(Done{});
  };
  host.wait(0.001, watchdog);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[1], seen[0] + 1);
  EXPECT_EQ(seen[2], seen[1] + 1);
}

TEST(HostCalls, TellTheWatchdogForHowLongNothingHasMoved) {
  HostCalls host;
  std::vector<double> quiet;
  const auto begin = std::chrono::steady_clock::now();
  host.begin();
  host.wait(0.001, [&](std::uint64_t beats, double seconds) {
    quiet.push_back(seconds);
    if (quiet.size() < 3) host.pulse.excuse(beats);
    if (quiet.size() == 3) host.call.answer(Done{});
  });
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(quiet.size(), 3u);
  EXPECT_GE(quiet[0], 0.001);
  EXPECT_GE(quiet[1], quiet[0] + 0.001) << "since the same moment";
  EXPECT_GE(quiet[2], quiet[1] + 0.001);
  EXPECT_LE(quiet[2], whole.count());
}

TEST(HostCalls, WaitAsLongAsTheWatchdogExcusesTheCall) {
  HostCalls host;
  host.begin();
  int calls = 0;
  const auto watchdog = [&](std::uint64_t beats, double) {
    if (++calls <= 20) return host.pulse.excuse(beats);
    host.call.answer(Done{});
  };
  EXPECT_TRUE(std::holds_alternative<Done>(host.wait(0.001, watchdog)));
  EXPECT_EQ(calls, 21);
  EXPECT_EQ(host.pulse.excuses(), 20u);
}

TEST(HostCalls, TakeNoExcuseForAnotherSilence) {
  HostCalls host;
  host.begin();
  host.pulse.excuse(host.pulse.beats());  // This excuse comes before anybody has asked for one.
  host.pulse.beat();
  int calls = 0;
  const auto watchdog = [&](std::uint64_t beats, double) {
    ++calls;
    if (calls == 1) host.pulse.excuse(beats - 1);
    if (calls == 2) host.failure.fail({Errc::stalled, "the feed sleeps"});
  };
  EXPECT_EQ(refusal(Errc::stalled, [&] { host.wait(0.001, watchdog); }), "the feed sleeps");
}

TEST(HostCalls, CountTheirBeginningAsAMove) {
  HostCalls host;
  const auto before = host.pulse.beats();
  host.begin();
  EXPECT_NE(host.pulse.beats(), before);
}

TEST(HostCalls, LiveAsLongAsWhoeverHasAPartOfThem) {
  auto host = std::make_shared<HostCalls>();
  const std::weak_ptr<HostCalls> watched = host;
  auto pulse = member_of(host, &HostCalls::pulse);
  host.reset();
  EXPECT_FALSE(watched.expired());
  pulse.reset();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace penstock::actors
