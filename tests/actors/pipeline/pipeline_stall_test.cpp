// These tests check that a call in which nothing moves fails and says who waits for what, and that
// a call in which something moves does not fail.

#include <gtest/gtest.h>

#include <algorithm>
#include <caf/event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>
#include <chrono>
#include <limits>
#include <optional>
#include <regex>
#include <thread>

#include "actors/execution/thread_team.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/small_cast.hpp"

namespace penstock::actors {
namespace {

using testing::AllocationFailures;
using testing::DeterministicRun;
using testing::FailsOn;
using testing::Latch;
using testing::ProbeHook;
using testing::ProbeRun;
using testing::refusal;
using testing::same_bits;
using testing::SmallCast;
using testing::SmallEngine;
using testing::SmallEngineOptions;

/// Returns `text` without the times for which each actor has waited.
std::string without_times(const std::string& text) {
  return std::regex_replace(text, std::regex(", for [0-9.e-]+ s(?=;|$)"), "");
}

/// Begins a window in which nothing moves in the end. Returns what the watchdog says about the
/// window, without the times.
std::string stall(SmallCast& cast) {
  cast.begin_windows(1);
  DeterministicRun order(cast.system(), 7);
  order.run();
  EXPECT_FALSE(cast.host().answered());
  cast.call_watchdog(cast.host().pulse.beats());
  order.run();
  EXPECT_TRUE(cast.host().answered());
  return without_times(refusal(Errc::stalled, [&] { cast.host().wait(0); }));
}

caf::behavior swallow(caf::event_based_actor*, int) {
  return {[](const EdgeTensor&) {}, [](const TiedSumsComplete&) {}};
}

/// While a CutOff lives, stage 1 sends to an actor that never does anything instead of stage 2.
class CutOff {
 public:
  explicit CutOff(SmallCast& cast) : nobody_(cast.system().spawn(RunsOn::workers, swallow, 0)) {
    StageLinks links = cast.stage_links(1);
    links.stages[2] = caf::actor_cast<StageHandle>(nobody_);
    caf::anon_send(cast.actor<StageHandle>(cast.stage_name(1)), std::move(links));
  }
  ~CutOff() { caf::anon_send_exit(nobody_, caf::exit_reason::user_shutdown); }
  CutOff(const CutOff&) = delete;
  CutOff& operator=(const CutOff&) = delete;

 private:
  const caf::actor nobody_;
};

TEST(PipelineStall, FailsTheCallAndSaysWhoWaitsForWhat) {
  SmallCast cast;
  const CutOff cut(cast);
  EXPECT_EQ(stall(cast),
            "nothing has moved for 60 s; feed has sent all of replica 0; "
            "stage 0 (replica 0, IPU 0) waits for gradient \"fc1/linear_input_gradient\" from "
            "stage 1 for micro-batch 0 (holds 7 micro-batches, its limit); "
            "stage 1 (replica 0, IPU 1) waits for gradient \"fc2/linear_input_gradient\" from "
            "stage 2 for micro-batch 0 (holds 5 micro-batches, its limit); "
            "stage 2 (replica 0, IPU 2) waits for input \"probe1\" from stage 1 for micro-batch 0; "
            "stage 3 (replica 0, IPU 3) waits for input \"probe2\" from stage 2 for micro-batch 0; "
            "the waits form a cycle: stage 1 (replica 0, IPU 1) waits for stage 2 (replica 0, IPU "
            "2), which waits for stage 1 (replica 0, IPU 1)");
  EXPECT_TRUE(same_bits(cast.variables_after_end(), cast.first_variables()));
}

/// idle_device() is the behavior of an IPU, and idle_reducer() that of a reducer, that takes all
/// messages and does nothing.
DeviceHandle::behavior_type idle_device(DeviceHandle::pointer, int) {
  return {[](RunProgram&) {}, [](BringWeights&) {}, [](RunUpdate&) {}};
}
ReducerHandle::behavior_type idle_reducer(ReducerHandle::pointer, int) {
  return {[](const ReducerLinks&) {}, [](const SumsComplete&) {}};
}

/// While an IdleDevice lives, stage 2 has an IPU that takes a program and never answers.
class IdleDevice {
 public:
  explicit IdleDevice(SmallCast& cast)
      : device_(cast.system().spawn(RunsOn::workers, idle_device, 0)) {
    StageLinks links = cast.stage_links(2);
    links.device = device_;
    caf::anon_send(cast.actor<StageHandle>(cast.stage_name(2)), std::move(links));
  }
  ~IdleDevice() { caf::anon_send_exit(device_, caf::exit_reason::user_shutdown); }
  IdleDevice(const IdleDevice&) = delete;
  IdleDevice& operator=(const IdleDevice&) = delete;

 private:
  const DeviceHandle device_;
};

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find("; " + part), std::string::npos) << part << "\nis missing in\n" << text;
}

/// Returns the behavior of a host store that takes blocks and never gives one back.
HostStoreHandle::behavior_type keep(HostStoreHandle::pointer self, int) {
  const auto promises = std::make_shared<std::vector<caf::typed_response_promise<FetchedBlock>>>();
  return {[](StoreBlock&) {},
          [=](const FetchBlock&) {
            promises->push_back(self->make_response_promise<FetchedBlock>());
            return promises->back();
          }};
}

/// A KeptClass describes a host store that works as `store` does, but never gives a block of class
/// `of`.
struct KeptClass {
  HostStoreHandle store;
  HostClass of;
};

HostStoreHandle::behavior_type keep_of(HostStoreHandle::pointer self, const KeptClass& kept) {
  const auto promises = std::make_shared<std::vector<caf::typed_response_promise<FetchedBlock>>>();
  return {[=](StoreBlock& message) { self->send(kept.store, std::move(message)); },
          [=](const FetchBlock& message) -> caf::result<FetchedBlock> {
            if (message.key.of != kept.of) return self->delegate(kept.store, message);
            promises->push_back(self->make_response_promise<FetchedBlock>());
            return promises->back();
          }};
}

TEST(PipelineStall, OfTheHostStoreNamesTheOptimizerThatWaits) {
  SmallCast cast({.offload = true});
  const auto keeper = cast.system().spawn(RunsOn::workers, keep, 0);
  OptimizerLinks links = cast.optimizer_links(1);
  links.host_store = keeper;
  cast.introduce(1, std::move(links));
  const std::string at_the_gate = " waits for the gate, which all stages pass together";
  EXPECT_EQ(
      stall(cast),
      "nothing has moved for 60 s; feed has sent all of replica 0; gate waits for the complete "
      "gradients of " +
          cast.stage_name(1) + "; optimizer of " + cast.stage_name(0) + at_the_gate +
          "; optimizer of " + cast.stage_name(1) +
          " waits for its state from the host store; optimizer of " + cast.stage_name(2) +
          at_the_gate + "; optimizer of " + cast.stage_name(3) + at_the_gate + "; " +
          cast.stage_name(0) + " waits for its weight update; " + cast.stage_name(1) +
          " waits for its weight update; " + cast.stage_name(2) + " waits for its weight update; " +
          cast.stage_name(3) + " waits for its weight update");
  caf::anon_send_exit(keeper, caf::exit_reason::user_shutdown);
}

TEST(PipelineStall, InAnUpdateNamesItsRoundAndTheStagesThatHaveNotDoneIt) {
  struct Case {
    const char* schedule;
    double max_grad_norm;
    const char* round;
  };
  for (const auto& [schedule, max_grad_norm, round] :
       {Case{"grouped", 0, "apply"}, Case{"grouped", 1, "measure"},
        Case{"sequential", 0, "apply"}}) {
    SmallCast cast({.schedule = schedule, .max_grad_norm = max_grad_norm});
    const auto device = cast.system().spawn(RunsOn::workers, idle_device, 0);
    for (const std::size_t stage : {1, 2}) {
      OptimizerLinks links = cast.optimizer_links(stage);
      links.device = device;
      cast.introduce(stage, std::move(links));
    }
    const std::string text = stall(cast);
    const std::string of_round = "the round \"" + std::string(round) + "\" of ";
    const bool one_by_one = std::string(schedule) == "sequential";
    expect_part(text, "gate waits for " + of_round + "the weight update of " + cast.stage_name(1) +
                          (one_by_one ? ";" : ", " + cast.stage_name(2)));
    expect_part(text, "optimizer of " + cast.stage_name(1) + " waits for its IPU, which has " +
                          of_round + "its weight update");
    caf::anon_send_exit(device, caf::exit_reason::user_shutdown);
  }
}

TEST(PipelineStall, BetweenReplicasNamesTheOptimizersThatLackTheOthersSums) {
  SmallCast cast({.replicas = 2});
  const auto reducer = cast.system().spawn(RunsOn::workers, idle_reducer, 0);
  OptimizerLinks links = cast.optimizer_links(2, 1);
  links.reducer = reducer;
  cast.introduce(2, std::move(links), 1);
  const std::string text = stall(cast);
  for (const std::int64_t replica : {0, 1})
    expect_part(text, "optimizer of " + cast.stage_name(2, replica) +
                          " waits for the gradient sums of the other replicas");
  expect_part(text, "gate waits for the complete gradients of " + cast.stage_name(2, 0) + ", " +
                        cast.stage_name(2, 1) + ";");
  caf::anon_send_exit(reducer, caf::exit_reason::user_shutdown);
}

TEST(PipelineStall, OfSumsOfATiedParameterNamesTheOptimizerThatLacksThem) {
  SmallCast cast({.tied = true});
  const auto nobody = cast.system().spawn(RunsOn::workers, swallow, 0);
  OptimizerLinks links = cast.optimizer_links(3);
  links.optimizers[0] = caf::actor_cast<OptimizerHandle>(nobody);
  cast.introduce(3, std::move(links));
  const std::string text = stall(cast);
  expect_part(text, "optimizer of " + cast.stage_name(0) +
                        " waits for the gradient sums of 1 of 3 stages that have copies of its "
                        "parameters");
  expect_part(text, "gate waits for the complete gradients of " + cast.stage_name(0) + ";");
  caf::anon_send_exit(nobody, caf::exit_reason::user_shutdown);
}

/// Returns what the watchdog says about a call in which stage 3 gets no blocks of class `missing`.
std::string stalled_without(HostClass missing, const SmallEngineOptions& options) {
  SmallCast cast(options);
  const auto store = cast.actor<HostStoreHandle>("host store");
  const auto keeper = cast.system().spawn(RunsOn::workers, keep_of, KeptClass{store, missing});
  cast.system().run_pending();
  StageLinks links = cast.stage_links(3);
  links.host_store = keeper;
  caf::anon_send(cast.actor<StageHandle>(cast.stage_name(3)), std::move(links));
  const std::string text = stall(cast);
  caf::anon_send_exit(keeper, caf::exit_reason::user_shutdown);
  return text;
}

const std::pair<HostClass, std::string> waits_for_blocks[] = {
    {HostClass::accumulators, "waits for its gradient sums from the host store"},
    {HostClass::weights, "waits for its weights from the host store"},
    {HostClass::stash, "waits for its stash of micro-batch 0 from the host store"}};

TEST(PipelineStall, OfTheHostStoreNamesTheStageThatWaitsForItsBlocks) {
  for (const auto& [missing, waits] : waits_for_blocks) {
    const std::string text = stalled_without(missing, {.offload = true});
    EXPECT_NE(text.find("; stage 3 (replica 0, IPU 3) " + waits), std::string::npos) << text;
  }
}

// 3.7: a stall names the blocks that a stage waits for even if they are fetched for a turn or
// before a turn.
TEST(PipelineStall, OfTheHostStoreInPhasesNamesTheStageThatWaitsForItsBlocks) {
  for (const bool separate_backward : {false, true})
    for (const auto& [missing, waits] : waits_for_blocks) {
      const std::string text = stalled_without(
          missing,
          {.schedule = "sequential",
           .phased = graph::PhaseRequest{.separate_backward = separate_backward, .turn = 8},
           .offload = true});
      EXPECT_NE(text.find("; stage 3 (replica 0, IPU 0) " + waits), std::string::npos) << text;
    }
}

TEST(PipelineStall, SaysSinceWhenEachActorWaits) {
  SmallCast cast;
  const CutOff cut(cast);
  cast.begin_windows(1);
  DeterministicRun order(cast.system(), 7);
  order.run();
  cast.call_watchdog(cast.host().pulse.beats());
  order.run();
  const std::string text = refusal(Errc::stalled, [&] { cast.host().wait(0); });
  const std::regex since(", for [0-9.e-]+ s(?=;|$)");
  EXPECT_EQ(std::distance(std::sregex_iterator(text.begin(), text.end(), since), {}), 5)
      << "the feed and four stages\n"
      << text;
}

TEST(PipelineStall, OfADeviceThatNeverAnswersNamesItAtTheFirstCallOfTheWatchdog) {
  SmallCast cast;
  const IdleDevice device(cast);
  const std::string text = stall(cast);
  expect_part(text, "stage 2 (replica 0, IPU 2) runs forward of micro-batch 0 on IPU 2;");
  EXPECT_EQ(text.find("cycle"), std::string::npos) << text;
  EXPECT_TRUE(same_bits(cast.variables_after_end(), cast.first_variables()));
  EXPECT_TRUE(cast.cast().living->await_end(0)) << "every actor of the engine has ended";
}

// On a busy machine a single call may be late, so that one of several has to end in time.
TEST(PipelineStall, OfADeviceThatNeverAnswersIsToldWithinASecondOfTheLimit) {
  constexpr double limit_seconds = 0.3;
  double shortest = std::numeric_limits<double>::infinity();
  for (int call = 0; call < 20 && shortest > limit_seconds + 1; ++call) {
    SmallCast cast({.stall_seconds = limit_seconds}, {.threads = 2});
    const IdleDevice device(cast);
    const auto begin = std::chrono::steady_clock::now();
    cast.begin_windows(1);
    const std::string text = refusal(Errc::stalled, [&] { cast.finish(); });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(seconds.count(), limit_seconds);
    shortest = std::min(shortest, seconds.count());
    // If the actors were kept from working until the watchdog's next call, it knows less of them.
    if (shortest <= limit_seconds + 1)
      expect_part(without_times(text),
                  "stage 2 (replica 0, IPU 2) runs forward of micro-batch 0 on IPU 2");
  }
  EXPECT_LE(shortest, limit_seconds + 1);
}

TEST(PipelineStall, IsNotSeenInACallThatHasJustBegun) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SmallCast cast;
    DeterministicRun order(cast.system(), seed);
    for (int call = 0; call < 4; ++call) {
      const std::uint64_t before = cast.host().pulse.beats();
      cast.begin(SetRules{std::make_shared<const UpdateRules>(cast.rules())});
      cast.call_watchdog(before);  // The previous call has asked for this look, which is late.
      order.run();
      ASSERT_EQ(refusal(Errc::stalled, [&] { cast.host().wait(0); }), "accepted")
          << "seed " << seed;
    }
  }
}

TEST(PipelineStall, IsNotReportedIfSomethingMovesWhileTheWatchdogAsks) {
  SmallCast cast;
  DeterministicRun order(cast.system());
  cast.begin_windows(1);
  order.steps(50);
  for (int interval = 0; interval < 20; ++interval) {
    cast.call_watchdog(cast.host().pulse.beats());
    order.steps(5);  // The call is slow, but something moves.
    ASSERT_FALSE(cast.host().failure.failed());
  }
  order.run();
  EXPECT_TRUE(cast.host().answered());
}

/// A BusyIpu is an IPU that says that it is inside the probe of its stage, and does nothing.
class BusyIpu {
 public:
  BusyIpu(SmallCast& cast, std::size_t ipu)
      : pulse_(std::const_pointer_cast<IpuPulse>(cast.host().pulse.ipus().at(ipu))) {
    pulse_->begin({IpuTask::forward, 0, static_cast<std::int32_t>(ipu), 3});
    for (const graph::Instruction& one : cast.plan().stages[ipu].forward.instructions)
      if (one.op->name == "probe") pulse_->heartbeat().begin(&one);
  }
  ~BusyIpu() { pulse_->end(); }
  graph::Heartbeat& heartbeat() { return pulse_->heartbeat(); }
  BusyIpu(const BusyIpu&) = delete;
  BusyIpu& operator=(const BusyIpu&) = delete;

 private:
  std::shared_ptr<IpuPulse> pulse_;
};

TEST(PipelineStall, IsNotReportedWhileAnIpuIsKnownToBeAtWork) {
  SmallCast cast;
  const CutOff cut(cast);
  cast.begin_windows(1);
  DeterministicRun order(cast.system(), 7);
  order.run();
  const auto quiet_for = [&](double seconds) {
    cast.call_watchdog(cast.host().pulse.beats(), seconds);
    order.run();
  };
  {
    const BusyIpu ipu(cast, 1);
    for (const double seconds : {60.0, 120.0, 599.0}) {
      quiet_for(seconds);
      EXPECT_FALSE(cast.host().failure.failed()) << seconds;
    }
    EXPECT_EQ(cast.host().pulse.excuses(), 3u);
    quiet_for(601);
  }
  const std::string text = refusal(Errc::stalled, [&] { cast.host().wait(0); });
  EXPECT_EQ(text.find("nothing has moved for 601 s; IPU 1 has been in probe \"probe1\" of forward "
                      "of micro-batch 3 of stage 1 of replica 0 all that time, and may be for "
                      "600 s at most where options.runtime.stall_seconds is 60 s; feed has sent"),
            0u)
      << text;
  EXPECT_NE(text.find("; stage 2 (replica 0, IPU 2) waits for input \"probe1\""), std::string::npos)
      << text;
}

// One part of a kernel may be held for as long as another part of the kernel beats. After the last
// beat, the held part has the time that any instruction has.
TEST(PipelineStall, OfOnePartOfAKernelIsReportedOnceNoOtherPartMoves) {
  constexpr std::size_t pieces = 3;
  SmallCast cast;
  const CutOff cut(cast);
  cast.begin_windows(1);
  DeterministicRun order(cast.system(), 7);
  order.run();
  BusyIpu ipu(cast, 1);
  Latch held, may_beat[pieces], beaten[pieces];
  std::thread kernel([&] {
    ThreadTeam team("IPU 1", 2);
    team.run(2, [&](std::int32_t part) {
      EXPECT_TRUE(part != 0 || held.wait());
      for (std::size_t piece = 0; part == 1 && piece < pieces; ++piece) {
        EXPECT_TRUE(may_beat[piece].wait());
        ipu.heartbeat().beat_of_piece();
        beaten[piece].open();
      }
    });
  });
  const auto quiet_since = [&](std::uint64_t progress, double seconds) {
    cast.call_watchdog(progress, seconds);
    order.run();
  };
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::uint64_t before = cast.host().pulse.beats();
    may_beat[piece].open();
    EXPECT_TRUE(beaten[piece].wait());
    quiet_since(before, 601);
    EXPECT_FALSE(cast.host().failure.failed()) << piece;
  }
  EXPECT_EQ(cast.host().pulse.excuses(), 0u) << "something has moved, which needs no excuse";
  quiet_since(cast.host().pulse.beats(), 599);
  EXPECT_FALSE(cast.host().failure.failed());
  EXPECT_EQ(cast.host().pulse.excuses(), 1u);
  quiet_since(cast.host().pulse.beats(), 601);
  const std::string text = refusal(Errc::stalled, [&] { cast.host().wait(0); });
  EXPECT_EQ(text.find("nothing has moved for 601 s; IPU 1 has been in probe \"probe1\""), 0u)
      << text;
  held.open();
  kernel.join();
}

TEST(PipelineStall, IsReportedAtOnceWhenTheIpuThatWasAtWorkIsNot) {
  SmallCast cast;
  const CutOff cut(cast);
  cast.begin_windows(1);
  DeterministicRun order(cast.system(), 7);
  order.run();
  {
    const BusyIpu ipu(cast, 1);
    cast.call_watchdog(cast.host().pulse.beats());
    order.run();
  }
  cast.call_watchdog(cast.host().pulse.beats());
  order.run();
  const std::string text = refusal(Errc::stalled, [&] { cast.host().wait(0); });
  EXPECT_EQ(text.find("nothing has moved for 60 s; feed has sent"), 0u) << text;
}

// A kernel that takes longer than a call may stand still changes no bit and closes no model.
TEST(PipelineStall, IsNotSeenInAKernelThatTakesLongerThanStallSeconds) {
  SmallCast undisturbed({}, {.threads = 2});
  undisturbed.begin_windows(1);
  undisturbed.finish();
  const Variables expected = undisturbed.variables_after_end();
  for (const bool host_has_memory : {true, false}) {
    SmallCast cast({.stall_seconds = 0.5}, {.threads = 2});
    const ProbeHook hook([&](const ProbeRun& run) {
      if (run.stage != 1 || run.direction != Direction::backward || run.key.micro_batch != 3)
        return;
      for (int i = 0; i < 60'000 && cast.host().pulse.excuses() == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    cast.begin_windows(1);
    {
      std::optional<AllocationFailures> failures;
      if (!host_has_memory) failures.emplace(1, 1'000'000, FailsOn::this_thread);
      EXPECT_NO_THROW(cast.finish());
    }
    EXPECT_GT(cast.host().pulse.excuses(), 0u);
    EXPECT_TRUE(same_bits(cast.variables_after_end(), expected));
  }
}

TEST(PipelineStall, OfARunningKernelIsReportedWhileItRuns) {
  Latch release;
  {
    const ProbeHook hook([&](const ProbeRun& run) {
      if (run.stage != 1 || run.direction != Direction::forward) return;
      EXPECT_TRUE(release.wait());
    });
    SmallEngine engine({.stall_seconds = 0.05, .threads = 2, .deterministic = false});
    const auto text = refusal(Errc::stalled, [&] { engine.step(1); });
    EXPECT_EQ(text.find("nothing has moved for "), 0u) << text;
    EXPECT_NE(text.find(" s; IPU 1 has been in probe \"probe1\" of forward of micro-batch 0 of "
                        "stage 1 of replica 0 all that time, and may be for 0.5 s at most"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("stage 1 (replica 0, IPU 1) runs forward of micro-batch 0"),
              std::string::npos)
        << text;
    EXPECT_EQ(refusal(Errc::stalled, [&] { engine.runtime().read_variables(); }),
              "what the stages hold cannot be read: an IPU is still busy");
    release.open();
    EXPECT_TRUE(same_bits(engine.runtime().read_variables(), engine.first_variables()));
  }
}

TEST(PipelineStall, IsReportedEvenIfEveryWorkerIsBusy) {
  Latch release;
  const ProbeHook hook([&](const ProbeRun&) { EXPECT_TRUE(release.wait()); });
  SmallEngine engine({.stall_seconds = 0.05, .threads = 1, .deterministic = false});
  const auto text = refusal(Errc::stalled, [&] { engine.step(1); });
  EXPECT_NE(text.find("; 10 of 10 actors gave no answer: every worker thread is busy, or memory "
                      "has run out"),
            std::string::npos)
      << text;
  release.open();
}

}  // namespace
}  // namespace penstock::actors
