#include "actors/execution/host_port.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using testing::refusal;

TEST(HostPort, HandsOverEachAnswerOnce) {
  HostPort port;
  port.begin_call();
  EXPECT_TRUE(port.in_call());
  EXPECT_FALSE(port.answered());
  port.answer(StepOutcome{.outputs = {Tensor({2}, {1.0f, 2.0f})}, .mean_loss = 1.5});
  EXPECT_TRUE(port.answered());
  EXPECT_FALSE(port.in_call());
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

TEST(HostPort, RemembersAFailureBetweenCalls) {
  HostPort port;
  port.fail({Errc::internal, "the gate: bad"});
  EXPECT_NE(refusal(Errc::closed, [&] { port.begin_call(); }), "accepted");
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

TEST(HostPort, LetsNoUpdateBeginAfterAFailure) {
  HostPort port;
  EXPECT_TRUE(port.update_begins());
  port.update_ended();
  port.fail({Errc::internal, "bad"});
  EXPECT_FALSE(port.update_begins());
}

TEST(HostPort, WaitsForTheEndOfAnUpdateThatHasBegun) {
  HostPort port;
  port.await_update_end(3600);  // none is under way
  ASSERT_TRUE(port.update_begins());
  port.fail({Errc::internal, "bad"});
  port.await_update_end(0);  // gives up
  bool ended = false;
  std::thread engine([&] {
    ended = true;
    port.update_ended();
  });
  port.await_update_end(3600);
  EXPECT_TRUE(ended);
  engine.join();
}

}  // namespace
}  // namespace penstock::actors
