#include "actors/execution/host_port.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <string>
#include <thread>

#include "tests/support/allocation_counter.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using testing::AllocationFailures;
using testing::FailsOn;
using testing::refusal;

TEST(HostPort, HandsOverEachAnswerOnce) {
  HostPort port;
  port.begin_call();
  EXPECT_TRUE(port.awaits_answer());
  EXPECT_FALSE(port.answered());
  port.answer(StepOutcome{.outputs = {Tensor({2}, {1.0f, 2.0f})}, .mean_loss = 1.5});
  EXPECT_TRUE(port.answered());
  EXPECT_FALSE(port.awaits_answer());
  EXPECT_EQ(std::get<StepOutcome>(port.wait(0)).outputs.size(), 1u);
  EXPECT_FALSE(port.answered());
}

TEST(HostPort, KeepsTheFirstFailureAndTellsEveryLaterCall) {
  HostPort port;
  port.begin_call();
  port.fail({Errc::stage_failed, "first"});
  port.fail({Errc::internal, "second"});
  EXPECT_TRUE(port.failed());
  EXPECT_EQ(refusal(Errc::stage_failed, [&] { port.wait(0); }), "first");
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(refusal(Errc::closed, [&] { port.begin_call(); }),
              "the model has failed before and cannot go on: first");
}

TEST(HostPort, ReportsAFailureRatherThanAnAnswer) {
  HostPort port;
  port.begin_call();
  port.answer(Done{});
  port.fail({Errc::stage_failed, "too late to be ignored"});
  EXPECT_EQ(refusal(Errc::stage_failed, [&] { port.wait(0); }), "too late to be ignored");
}

const std::function<void(HostPort&)> ways_to_meet_a_failure[] = {
    [](HostPort& port) { port.begin_call(); }, [](HostPort& port) { port.expect_rest(); },
    [](HostPort& port) { port.expect_open(); }};

TEST(HostPort, ThrowsAFailureBetweenCallsAsItselfOnceAndThenAsClosed) {
  for (const auto& call : ways_to_meet_a_failure)
    for (const auto& later : ways_to_meet_a_failure) {
      HostPort port;
      port.fail({Errc::out_of_memory, "the gate: out of memory"});
      EXPECT_STREQ(port.untold_failure()->what(), "the gate: out of memory");
      EXPECT_EQ(refusal(Errc::out_of_memory, [&] { call(port); }), "the gate: out of memory");
      EXPECT_FALSE(port.untold_failure());
      EXPECT_EQ(refusal(Errc::closed, [&] { later(port); }),
                "the model has failed before and cannot go on: the gate: out of memory");
    }
}

/// Long enough to need memory of its own.
const std::string gate_failure = "the gate: no gradient has come, and none will come any more";

TEST(HostPort, KeepsAFailureUntilThereIsMemoryToThrowIt) {
  for (const auto& call : ways_to_meet_a_failure) {
    HostPort port;
    port.fail({Errc::stage_failed, gate_failure});
    {
      const AllocationFailures none(1, 1000, FailsOn::this_thread);
      EXPECT_THROW(call(port), std::bad_alloc);
    }
    EXPECT_EQ(refusal(Errc::stage_failed, [&] { call(port); }), gate_failure);
  }
}

TEST(HostPort, KeepsAFailureThatTheCallHadNoMemoryFor) {
  HostPort port;
  port.begin_call();
  port.fail({Errc::stage_failed, gate_failure});
  {
    const AllocationFailures none(1, 1000, FailsOn::this_thread);
    EXPECT_THROW(port.wait(0), std::bad_alloc);
  }
  EXPECT_EQ(refusal(Errc::stage_failed, [&] { port.begin_call(); }), gate_failure);
}

TEST(HostPort, GivesUpAnEngineThatIsSilentEvenWithoutMemory) {
  HostPort port;
  port.begin_call();
  {
    const AllocationFailures none(1, 1000, FailsOn::this_thread);
    EXPECT_THROW(port.wait(0.001), std::bad_alloc);
  }
  EXPECT_FALSE(port.awaits_answer());
  EXPECT_NE(refusal(Errc::stalled, [&] { port.begin_call(); }).find("has not answered"),
            std::string::npos);
}

TEST(HostPort, RefusesACallUntilTheAnswerOfTheLastOneIsTaken) {
  HostPort port;
  port.begin_call();
  port.answer(CutAfter{3});
  EXPECT_NE(refusal(Errc::busy, [&] { port.begin_call(); }), "accepted");
  EXPECT_NE(refusal(Errc::busy, [&] { port.expect_rest(); }), "accepted");
  EXPECT_NE(refusal(Errc::busy, [&] { port.expect_rest_or_failure(); }), "accepted");
  EXPECT_EQ(std::get<CutAfter>(port.wait(0)).micro_batches, 3);
  EXPECT_FALSE(port.expect_rest_or_failure());
  port.begin_call();
}

TEST(HostPort, MayBeReadAfterAFailureWhoseCallNobodyEnds) {
  HostPort port;
  port.begin_call();
  port.fail({Errc::internal, "bad"});
  EXPECT_TRUE(port.expect_rest_or_failure());
}

TEST(HostPort, WakesTheHostFromAnotherThread) {
  HostPort port;
  port.begin_call();
  std::thread engine([&] { port.answer(Done{}); });
  EXPECT_TRUE(std::holds_alternative<Done>(port.wait(60)));
  engine.join();
}

TEST(HostPort, GivesUpAnEngineThatIsSilent) {
  HostPort port;
  port.begin_call();
  const auto text = refusal(Errc::stalled, [&] { port.wait(0.001); });
  EXPECT_NE(text.find("has not answered"), std::string::npos);
  EXPECT_EQ(refusal(Errc::closed, [&] { port.begin_call(); }),
            "the model has failed before and cannot go on: " + text);
}

TEST(HostPort, WaitsForAnEngineThatMovesLongerThanItsLimit) {
  HostPort port;
  port.begin_call();
  std::thread engine([&] {
    // Far more than one limit, but never a quiet one.
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    while (std::chrono::steady_clock::now() < end) port.progress();
    port.answer(Done{});
  });
  EXPECT_EQ(refusal(Errc::stalled, [&] { port.wait(0.5); }), "accepted");
  engine.join();
}

TEST(HostPort, CallsItsWatchdogTwiceWhereNothingMoves) {
  HostPort port;
  port.begin_call();
  std::vector<std::uint64_t> seen;
  const auto watchdog = [&](std::uint64_t progress, double) {
    seen.push_back(progress);
    if (seen.size() == 2) port.fail({Errc::stalled, "the feed sleeps"});
  };
  EXPECT_EQ(refusal(Errc::stalled, [&] { port.wait(0.001, watchdog); }), "the feed sleeps");
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{port.progressed(), port.progressed()}));
}

TEST(HostPort, CallsItsWatchdogAfreshAfterSomethingHasMoved) {
  HostPort port;
  port.begin_call();
  std::vector<std::uint64_t> seen;
  const auto watchdog = [&](std::uint64_t progress, double) {
    seen.push_back(progress);
    if (seen.size() < 3) port.progress();
    if (seen.size() == 3) port.answer(Done{});
  };
  port.wait(0.001, watchdog);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[1], seen[0] + 1);
  EXPECT_EQ(seen[2], seen[1] + 1);
}

TEST(HostPort, TellsItsWatchdogForHowLongNothingHasMoved) {
  HostPort port;
  std::vector<double> quiet;
  const auto begin = std::chrono::steady_clock::now();
  port.begin_call();
  port.wait(0.001, [&](std::uint64_t progress, double seconds) {
    quiet.push_back(seconds);
    if (quiet.size() < 3) port.excuse(progress);
    if (quiet.size() == 3) port.answer(Done{});
  });
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(quiet.size(), 3u);
  EXPECT_GE(quiet[0], 0.001);
  EXPECT_GE(quiet[1], quiet[0] + 0.001) << "since the same moment";
  EXPECT_GE(quiet[2], quiet[1] + 0.001);
  EXPECT_LE(quiet[2], whole.count());
}

TEST(HostPort, WaitsAsLongAsItsWatchdogExcusesTheCall) {
  HostPort port;
  port.begin_call();
  int calls = 0;
  const auto watchdog = [&](std::uint64_t progress, double) {
    if (++calls <= 20) return port.excuse(progress);
    port.answer(Done{});
  };
  EXPECT_TRUE(std::holds_alternative<Done>(port.wait(0.001, watchdog)));
  EXPECT_EQ(calls, 21);
  EXPECT_EQ(port.excuses(), 20u);
}

TEST(HostPort, TakesNoExcuseForAnotherSilence) {
  HostPort port;
  port.begin_call();
  port.excuse(port.progressed());  // before anybody has asked
  port.progress();
  int calls = 0;
  const auto watchdog = [&](std::uint64_t progress, double) {
    ++calls;
    if (calls == 1) port.excuse(progress - 1);
    if (calls == 2) port.fail({Errc::stalled, "the feed sleeps"});
  };
  EXPECT_EQ(refusal(Errc::stalled, [&] { port.wait(0.001, watchdog); }), "the feed sleeps");
}

TEST(HostPort, CountsWhatIpusDoAsProgress) {
  HostPort port;
  const auto ipus = std::vector{std::make_shared<IpuPulse>(0), std::make_shared<IpuPulse>(1)};
  port.watch({ipus[0], ipus[1]});
  for (const auto& ipu : ipus) {
    const auto before = port.progressed();
    ipu->heartbeat().beat();
    EXPECT_NE(port.progressed(), before);
  }
}

TEST(HostPort, CountsTheBeginningOfACallAsProgress) {
  HostPort port;
  const auto before = port.progressed();
  port.begin_call();
  EXPECT_NE(port.progressed(), before);
}

TEST(HostPort, CountsAnUpdateOnceAllStagesHaveDoneIt) {
  HostPort port;
  for (std::uint64_t updates = 0; updates < 3; ++updates) {
    ASSERT_TRUE(port.update_begins());
    for (int stage = 0; stage < 3; ++stage) {
      EXPECT_EQ(port.updates(), updates);
      port.count_update_of_stage(3);
    }
    EXPECT_EQ(port.updates(), updates + 1);
    port.update_ended();
    EXPECT_EQ(port.updates(), updates + 1);
  }
}

TEST(HostPort, LetsNoUpdateBeginAfterAFailure) {
  HostPort port;
  EXPECT_TRUE(port.update_begins());
  port.update_ended();
  port.fail({Errc::internal, "bad"});
  EXPECT_FALSE(port.update_begins());
}

TEST(HostPort, LetsNoUpdateBeginThatWouldBeCutByTheEnd) {
  HostPort port;
  ASSERT_TRUE(port.update_begins());
  port.let_no_update_begin();
  EXPECT_TRUE(port.is_updating()) << "the one under way may end";
  port.update_ended();
  EXPECT_FALSE(port.update_begins());
  EXPECT_FALSE(port.is_updating());
}

TEST(HostPort, WaitsForTheEndOfAnUpdateThatHasBegun) {
  HostPort port;
  EXPECT_TRUE(port.await_update_end(3600)) << "none is under way";
  ASSERT_TRUE(port.update_begins());
  port.fail({Errc::internal, "bad"});
  EXPECT_FALSE(port.await_update_end(0));
  bool ended = false;
  std::thread engine([&] {
    ended = true;
    port.update_ended();
  });
  EXPECT_TRUE(port.await_update_end(3600));
  EXPECT_TRUE(ended);
  engine.join();
}

TEST(HostPort, DoesNotWaitForAnUpdateThatIsCut) {
  HostPort port;
  ASSERT_TRUE(port.update_begins());
  port.fail({Errc::internal, "bad"});
  port.fail({.code = Errc::internal, .text = "worse", .stops_update = true});
  EXPECT_TRUE(port.await_update_end(3600));
  EXPECT_TRUE(port.is_updating()) << "it has not ended";
}

TEST(HostPort, DoesNotWaitForAnUpdateThatWasGivenUp) {
  HostPort port;
  port.give_up_update();
  ASSERT_TRUE(port.update_begins());
  EXPECT_FALSE(port.await_update_end(0)) << "it was not under way then";
  port.give_up_update();
  for (int twice = 0; twice < 2; ++twice) EXPECT_TRUE(port.await_update_end(3600));
  EXPECT_TRUE(port.is_updating()) << "it has not ended";
}

}  // namespace
}  // namespace penstock::actors
