// These tests end pipelines that are slow or dead. Weights that can still be read are read, and
// nobody waits forever.

#include "actors/pipeline/pipeline_end.hpp"

#include <gtest/gtest.h>

#include <caf/send.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>

#include "tests/actors/pipeline/update_hook.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/small_cast.hpp"
#include "tests/support/test_clock.hpp"

namespace penstock::actors {
namespace {

using testing::AllocationFailures;
using testing::hooked;
using testing::Latch;
using testing::ProbeHook;
using testing::ProbeRun;
using testing::refusal;
using testing::same_bits;
using testing::SmallCast;
using testing::SmallEngine;
using testing::TestClock;
using testing::UpdateHook;

std::vector<Tensor> weights_after_one_update() {
  SmallEngine engine({.own_rule = &hooked});
  engine.step(1);
  return engine.runtime().read_variables();
}

constexpr double stall_seconds = 0.3;

/// Takes longer than a call may stand still, and far less time than an IPU may work on one thing.
void take_long() {
  std::this_thread::sleep_for(std::chrono::duration<double>(3 * stall_seconds));
}

/// Takes hours by the TestClock: meanwhile, an hour passes with each reading of the clock. Returns
/// once the clock has been read six times. By then, a thread that limits its wait has given up and
/// has gone on.
void take_hours() {
  const std::int64_t enough = TestClock::readings() + 6;
  TestClock::pass_with_each_reading(std::chrono::hours(1));
  for (int i = 0; i < 60'000 && TestClock::readings() < enough; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  TestClock::pass_with_each_reading({});
  EXPECT_GE(TestClock::readings(), enough) << "nobody waits";
}

bool end(SmallCast& cast, IpuTime ipu_time = IpuTime::limited) {
  return end_pipeline(cast.system(), cast.host(), cast.cast(), cast.pipeline()->stall_seconds,
                      ipu_time);
}

const Failure from_outside{Errc::internal, "for a reason outside the pipeline"};

TEST(PipelineEnd, WaitsForAnUpdateThatTakesLongerThanStallSeconds) {
  const auto after_one_update = weights_after_one_update();
  SmallCast cast({.stall_seconds = stall_seconds, .own_rule = &hooked}, {.threads = 2});
  Latch updating;
  std::atomic<bool> held = false;
  const UpdateHook hook([&](double stage) {
    if (stage != 2 || held.exchange(true)) return;
    updating.open();
    take_long();
  });
  cast.begin_windows(2);
  ASSERT_TRUE(updating.wait());
  cast.host().failure.fail(from_outside);
  EXPECT_TRUE(end(cast));
  EXPECT_TRUE(same_bits(cast.variables(), after_one_update));
  EXPECT_EQ(cast.updates(), 1U);
}

TEST(PipelineEnd, LetsNoUpdateBeginThatIsNotUnderWay) {
  SmallCast cast({.own_rule = &hooked});
  cast.begin_windows(1);
  EXPECT_TRUE(end(cast)) << "the actors have done all that they could do";
  EXPECT_EQ(cast.updates(), 1U);

  SmallCast ended({.own_rule = &hooked});
  ended.host().updates.close();
  ended.begin_windows(1);
  EXPECT_TRUE(end(ended));
  EXPECT_EQ(ended.updates(), 0U);
  EXPECT_TRUE(same_bits(ended.variables(), ended.first_variables()));
}

TEST(PipelineEnd, GivesUpAnUpdateThatDoesNotEnd) {
  Latch updating, release;
  std::atomic<bool> held = false;
  const UpdateHook hook([&](double stage) {
    if (stage != 2 || held.exchange(true)) return;
    updating.open();
    EXPECT_TRUE(release.wait());
  });
  SmallCast cast({.stall_seconds = 0.01, .own_rule = &hooked}, {.threads = 2});
  cast.begin_windows(1);
  ASSERT_TRUE(updating.wait());
  cast.host().failure.fail(from_outside);
  EXPECT_FALSE(cast.host().updates.await_end(0));
  EXPECT_FALSE(end(cast));
  EXPECT_TRUE(cast.host().updates.await_end(0)) << "it is waited for again";
  release.open();
  bool ended = false;
  for (int i = 0; i < 6000 && !ended; ++i) ended = end(cast);
  EXPECT_TRUE(ended);
}

// In this test, stages update one after another: if the end did not wait for the second stage's
// update, the stages after it would not begin their updates.
TEST(PipelineEnd, WaitsForAnUpdateForAsLongAsAnIpuTakesWhereItsTimeIsUnlimited) {
  const auto after_one_update = weights_after_one_update();
  Latch updating;
  std::atomic<bool> held = false;
  const UpdateHook hook([&](double stage) {
    if (stage != 1 || held.exchange(true)) return;
    updating.open();
    take_hours();
  });
  SmallCast cast({.schedule = "sequential", .stall_seconds = 0.01, .own_rule = &hooked},
                 {.threads = 2}, &TestClock::now);
  cast.begin_windows(1);
  ASSERT_TRUE(updating.wait());
  EXPECT_TRUE(end(cast, IpuTime::unlimited));
  EXPECT_EQ(cast.updates(), 1U);
  EXPECT_TRUE(same_bits(cast.variables(), after_one_update));
}

TEST(PipelineEnd, WaitsForAKernelForAsLongAsItTakesWhereItsTimeIsUnlimited) {
  Latch running;
  std::atomic<bool> held = false;
  const ProbeHook hook([&](const ProbeRun& run) {
    if (run.stage != 1 || held.exchange(true)) return;
    running.open();
    take_hours();
  });
  SmallCast cast({.stall_seconds = 0.01}, {.threads = 2}, &TestClock::now);
  cast.begin_windows(1);
  ASSERT_TRUE(running.wait());
  EXPECT_TRUE(end(cast, IpuTime::unlimited));
}

// The update never ends, because its gate has ended. If the end waited for the update, this test
// would take an hour.
TEST(PipelineEnd, WaitsForNothingOnceAllActorsHaveEnded) {
  Latch updating, release;
  const UpdateHook hook([&](double stage) {
    if (stage != 2) return;
    updating.open();
    EXPECT_TRUE(release.wait());
  });
  SmallCast cast({.stall_seconds = 3600, .own_rule = &hooked}, {.threads = 2});
  cast.begin_windows(1);
  ASSERT_TRUE(updating.wait());
  actors::end(cast.cast());
  release.open();
  cast.cast().living->await_end();
  EXPECT_FALSE(cast.host().updates.await_end(0)) << "nobody has ended the update";
  EXPECT_TRUE(end(cast));
}

/// Lets stage 2 fail while stage 0 is in the middle of `kernel`.
void fail_beside(const ProbeRun& run, Latch& running, const std::function<void()>& kernel) {
  if (run.direction != Direction::forward) return;
  if (run.stage == 0 && run.key.micro_batch == 3) {
    running.open();
    kernel();
  }
  if (run.stage == 2 && running.wait()) throw std::runtime_error("no luck");
}

TEST(PipelineEnd, LeavesWeightsToReadAfterAKernelThatTakesLongerThanStallSeconds) {
  Latch running;
  const ProbeHook hook([&](const ProbeRun& run) { fail_beside(run, running, take_long); });
  SmallEngine engine({.stall_seconds = stall_seconds, .threads = 3, .deterministic = false});
  EXPECT_NE(refusal(Errc::stage_failed, [&] { engine.step(1); }), "accepted");
  EXPECT_TRUE(same_bits(engine.runtime().read_variables(), engine.first_variables()));
}

TEST(PipelineEnd, CountsAnUpdateOfWhoseEndTheGateNeverHears) {
  const auto after_one_update = weights_after_one_update();
  // Stages update one after another. The gate ends while the last stage updates its last parameter.
  SmallCast cast({.schedule = "sequential", .own_rule = &hooked});
  int last_stage = 0;
  const UpdateHook hook([&](double stage) {
    if (stage == 3 && ++last_stage == 2)
      caf::anon_send_exit(cast.actor("gate"), caf::exit_reason::unknown);
  });
  cast.begin_windows(2);
  cast.system().run_pending();
  EXPECT_TRUE(end(cast));
  EXPECT_EQ(cast.updates(), 1U);
  EXPECT_TRUE(same_bits(cast.variables(), after_one_update));
}

/// Does one update in which one allocation fails: number `failing` after the first stage has begun
/// to change its weights. The update has to be whole nevertheless, and has to be counted as soon as
/// the call has ended. Returns whether there were so many allocations.
bool update_without_memory(std::int64_t failing, const std::vector<Tensor>& after_one_update) {
  std::optional<AllocationFailures> failures;
  const UpdateHook hook([&](double stage) {
    if (stage == 0 && !failures) failures.emplace(failing);
  });
  SmallEngine engine(
      {.schedule = "sequential", .stall_seconds = 30, .own_rule = &hooked, .deterministic = false});
  try {
    engine.step(1);
  } catch (const std::exception&) {
  }
  const std::uint64_t updates = engine.runtime().updates();
  const bool reached = failures && failures->reached();
  failures.reset();
  EXPECT_EQ(updates, 1U);
  EXPECT_TRUE(same_bits(engine.runtime().read_variables(), after_one_update));
  return reached;
}

TEST(PipelineEnd, LeavesAnUpdateWholeAndCountedWhereverMemoryRunsOutAfterItHasBegun) {
  const auto after_one_update = weights_after_one_update();
  std::int64_t failures = 0;
  for (bool reached = true; reached; ++failures) {
    SCOPED_TRACE("allocation " + std::to_string(failures + 1));
    ASSERT_NO_THROW(reached = update_without_memory(failures + 1, after_one_update));
  }
  EXPECT_GT(failures, 5);
}

// Stages update one after another. The IPU of the second one stands still for longer than it may,
// and then goes on.
TEST(PipelineEnd, LeavesAnUpdateAloneInWhichAnIpuStandsStill) {
  const Latch inside, go_on;
  const UpdateHook hook([&](double stage) {
    if (stage != 1) return;
    inside.open();
    go_on.wait();
  });
  SmallEngine engine({.schedule = "sequential",
                      .stall_seconds = stall_seconds,
                      .own_rule = &hooked,
                      .deterministic = false});
  PipelineRuntime& runtime = engine.runtime();
  EXPECT_NE(refusal(Errc::stalled, [&] { engine.step(1); }), "accepted");
  ASSERT_TRUE(inside.wait());
  EXPECT_NE(refusal(Errc::stalled, [&] { runtime.can_be_replaced(); }), "accepted");
  EXPECT_FALSE(runtime.end(0.01));
  go_on.open();
  EXPECT_TRUE(runtime.end(60));
  EXPECT_TRUE(runtime.can_be_replaced());
  EXPECT_EQ(runtime.updates(), 1U);
}

}  // namespace
}  // namespace penstock::actors
