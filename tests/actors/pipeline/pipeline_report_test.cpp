// These tests check what stages report about themselves.

#include <gtest/gtest.h>

#include <algorithm>
#include <caf/event_based_actor.hpp>
#include <chrono>
#include <map>
#include <thread>
#include <vector>

#include "graph/values/memory.hpp"
#include "tests/support/small_cast.hpp"
#include "tests/support/small_engine.hpp"

namespace penstock::actors {
namespace {

using testing::SmallCast;
using testing::SmallEngine;
using testing::SmallEngineOptions;

std::int64_t trained_bytes(const graph::StagePlan& stage) {
  std::int64_t bytes = 0;
  for (const graph::VariablePlan& variable : stage.variables)
    if (variable.trainable) bytes += variable.type.bytes();
  return bytes;
}

// H2 of docs/reference.md: a stage's peak is the sum of the bytes in the plan and of the bytes that
// the optimizer keeps on the IPU.
TEST(StageReports, CountEveryByteOnTheIpu) {
  for (const bool offload : {false, true}) {
    SmallEngine engine({.replicas = 2, .offload = offload});
    engine.step(1);
    const auto statuses = engine.runtime().read_status();
    ASSERT_EQ(statuses.size(), 8u);
    // The replicas keep the state of a stage in the host store together.
    std::map<int, std::int64_t> kept, loaded;
    for (const auto& [report, trace] : statuses) {
      const auto number = static_cast<std::size_t>(report.stage);
      const graph::StagePlan& stage = engine.plan().stages[number];
      const std::int64_t state = 2 * trained_bytes(stage);  // AdamW keeps two moments.
      EXPECT_EQ(report.optimizer_bytes_on_ipu, offload ? 0 : state);
      kept[report.stage] += report.optimizer_state.bytes;
      loaded[report.stage] += report.optimizer_state.loaded_bytes;
      if (report.replica == 1) {
        EXPECT_EQ(kept[report.stage], offload ? state : 0);
        EXPECT_EQ(loaded[report.stage], offload ? state : 0) << "for one update";
      }
      EXPECT_GT(stage.scratch_bytes, 512) << "room for two tensors of 64 elements";
      EXPECT_EQ(report.peak_bytes,
                bytes_of_stage(engine.plan(), number).total() + report.optimizer_bytes_on_ipu);
      EXPECT_TRUE(trace.empty());
    }
  }
}

/// Returns the bytes of all blocks that the stages report, on IPUs or elsewhere. A block that the
/// stages of an IPU share counts once, and so does a block that replicas share.
std::int64_t told_bytes(const std::vector<StageStatus>& statuses) {
  std::int64_t bytes = 0;
  std::map<int, std::int64_t> of_ipus, of_stages;  // These exist once for each IPU, or stage.
  for (const auto& [report, trace] : statuses) {
    bytes += report.peak_bytes - report.shared_bytes - report.bytes_shared_by_replicas +
             report.padding_bytes;
    for (const OffloadReport* of :
         {&report.optimizer_state, &report.accumulators, &report.activations})
      bytes += of->bytes + of->padding_bytes;
    of_ipus[report.ipu] = report.shared_bytes;
    of_stages[report.stage] =
        report.bytes_shared_by_replicas + report.weights.bytes + report.weights.padding_bytes;
  }
  for (const auto* once : {&of_ipus, &of_stages})
    for (const auto& [number, shared] : *once) bytes += shared;
  return bytes;
}

/// Returns by how many bytes the tensor memory has grown since it had `before` bytes.
std::int64_t bytes_since(std::uint64_t before) {
  return static_cast<std::int64_t>(memory_counters().bytes_live - before);
}

/// Checks that an engine reports from the start all bytes that it has allocated, and that steps add
/// only the outputs, which belong to the host and exist from the first step on. Returns how many
/// bytes the outputs have.
std::int64_t bytes_of_outputs(const SmallEngineOptions& options) {
  const std::uint64_t before = memory_counters().bytes_live;
  SmallEngine engine(options);
  const std::int64_t allocated = bytes_since(before);
  EXPECT_EQ(told_bytes(engine.runtime().read_status()), allocated);
  engine.step(2);
  const std::int64_t outputs = bytes_since(before) - allocated;
  engine.step(2);
  EXPECT_EQ(bytes_since(before) - allocated, outputs) << "from the second step on";
  return outputs;
}

/// Checks that every byte is reported, with and without each way to keep less on the IPUs.
void expect_every_byte_told(SmallEngineOptions options) {
  const std::int64_t outputs = bytes_of_outputs(options);
  for (const bool offload : {false, true})
    for (const bool shards : {false, true})
      for (const bool recompute : {false, true}) {
        SCOPED_TRACE("offload " + std::to_string(offload) + ", shards " + std::to_string(shards) +
                     ", recompute " + std::to_string(recompute));
        options.offload = offload;
        options.shards = shards;
        options.recompute = recompute;
        EXPECT_EQ(bytes_of_outputs(options), outputs);
      }
}

// The engine allocates neither more nor less than what the stages report, and tensors
// that are kept elsewhere do not take memory on the IPUs later.
TEST(StageReports, TogetherTellOfEveryByteThatTheEngineAllocates) {
  for (const bool training : {true, false})
    for (const std::int64_t replicas : {1, 2, 3})
      for (const std::int64_t stages : {4, 1}) {
        SCOPED_TRACE(std::to_string(stages) + " stages, " + std::to_string(replicas) +
                     " replicas, training " + std::to_string(training));
        expect_every_byte_told({.stages = stages, .training = training, .replicas = replicas});
      }
}

/// Returns the behavior of a host store that works as `store` does, but takes its time to find a
/// block.
HostStoreHandle::behavior_type slow_store(HostStoreHandle::pointer self,
                                          const HostStoreHandle& store) {
  return {[=](StoreBlock& message) { self->send(store, std::move(message)); },
          [=](const FetchBlock& message) -> caf::result<FetchedBlock> {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            return self->delegate(store, message);
          }};
}

/// Trains for one window, and returns what each round of the weight update of stage number `stage`
/// waited for.
std::vector<WaitReason> reasons_of_update(SmallCast& cast, std::int32_t stage) {
  cast.begin_windows(1);
  cast.finish();
  std::vector<TraceEvent> events;
  for (const auto& status : cast.cast().statuses) status->take().trace.append_to(events);
  std::vector<WaitReason> reasons;
  for (const TraceEvent& event : events)
    if (event.activity == Activity::update && event.stage == stage)
      reasons.push_back(event.waited_for);
  return reasons;
}

/// Expects that the update of stage number `stage` has two rounds, of which the second always waits
/// for the gate, and that the first one waits for `expected` in one of the next windows. The test's
/// process may be held up anywhere, so that not every window is as expected.
void expect_first_round_to_wait_for(WaitReason expected, SmallCast& cast, std::int32_t stage) {
  bool found = false;
  for (int window = 0; window < 100 && !found; ++window) {
    const std::vector<WaitReason> reasons = reasons_of_update(cast, stage);
    ASSERT_EQ(reasons.size(), 2U);
    EXPECT_EQ(reasons[1], WaitReason::gate) << "the state is there already";
    found = reasons[0] == expected;
  }
  EXPECT_TRUE(found) << "stage " << stage;
}

TEST(StageReports, SayThatAnUpdateWaitedForTheHostStoreWhereThatTookLongest) {
  SmallCast cast({.max_grad_norm = 0.5, .offload = true, .trace = true});
  OptimizerLinks links = cast.optimizer_links(1);
  const auto slow = cast.system().spawn(RunsOn::workers, slow_store, links.host_store);
  links.host_store = slow;
  cast.introduce(1, std::move(links));
  expect_first_round_to_wait_for(WaitReason::host_store, cast, 1);
  caf::anon_send_exit(slow, caf::exit_reason::user_shutdown);
}

/// Returns the behavior of a gate that works as `gate` does, but takes its time to hear that an
/// optimizer is there.
GateHandle::behavior_type slow_gate(GateHandle::pointer self, const GateHandle& gate) {
  const auto pass_on = [=](auto& message) { self->send(gate, std::move(message)); };
  return {[=](GateLinks& message) { pass_on(message); },
          [=](GradientsReady& message) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            pass_on(message);
          },
          [=](RoundDone& message) { pass_on(message); },
          [=](SetRules& message) { pass_on(message); },
          [=](ExplainWait& message) { pass_on(message); }};
}

TEST(StageReports, SayThatAnUpdateWaitedForTheGateWhereThatTookLonger) {
  SmallCast cast({.max_grad_norm = 0.5, .offload = true, .trace = true});
  OptimizerLinks links = cast.optimizer_links(1);
  const auto slow = cast.system().spawn(RunsOn::workers, slow_gate, links.gate);
  links.gate = slow;
  cast.introduce(1, std::move(links));
  expect_first_round_to_wait_for(WaitReason::gate, cast, 1);
  caf::anon_send_exit(slow, caf::exit_reason::user_shutdown);
}

TEST(StageReports, SayThatUpdatesWaitedForTheGateWhereNoStateIsFetched) {
  SmallCast cast({.max_grad_norm = 0.5, .trace = true});
  for (int window = 0; window < 20; ++window)
    EXPECT_EQ(reasons_of_update(cast, 1), std::vector(2, WaitReason::gate));
}

TEST(StageReports, TogetherTellOfEveryByteOfPhasesToo) {
  for (const bool parallel : {false, true})
    for (const std::int32_t turn : {1, 8})
      for (const bool training : {true, false}) {
        SCOPED_TRACE("parallel " + std::to_string(parallel) + ", turns of " + std::to_string(turn) +
                     ", training " + std::to_string(training));
        graph::PhaseRequest phases{.parallel = parallel, .turn = training ? turn : 1};
        expect_every_byte_told(
            {.schedule = "sequential", .phased = phases, .training = training, .replicas = 2});
      }
}

TEST(StageReports, TellOfWhatTheReplicasShare) {
  for (const bool shards : {false, true})
    for (const std::int64_t replicas : {1, 2}) {
      SmallEngine engine({.replicas = replicas, .shards = shards});
      const StageReport report = engine.runtime().read_status().front().report;
      const graph::StagePlan& stage = engine.plan().stages.front();
      const std::int64_t state = shards ? 0 : report.optimizer_bytes_on_ipu;
      EXPECT_EQ(report.bytes_shared_by_replicas, replicas > 1 ? stage.parameter_bytes + state : 0);
    }
}

// Each IPU of two replicas adds up half of their sums, and reports its half as an exchange. With
// shards, the gathering of the new weights is a second exchange.
TEST(StageReports, TellOfTheAdditionOfTheReplicasSumsAsAnExchangeOfEachIpu) {
  for (const bool shards : {false, true}) {
    SmallEngine engine({.replicas = 2, .shards = shards, .trace = true});
    engine.step(1);
    for (const StageStatus& status : engine.runtime().read_status()) {
      std::vector<TraceEvent> events;
      status.trace.append_to(events);
      EXPECT_EQ(std::ranges::count(events, Activity::update, &TraceEvent::activity), 1);
      EXPECT_EQ(std::ranges::count(events, Activity::exchange, &TraceEvent::activity),
                shards ? 2 : 1);
      std::int64_t exchanged = 0;
      for (const TraceEvent& event : events)
        if (event.activity == Activity::exchange) exchanged += event.bytes;
      const CollectiveReport& moved = status.report.collectives;
      EXPECT_EQ(exchanged, moved.all_reduced_bytes + moved.scattered_bytes + moved.gathered_bytes);
    }
  }
}

struct Executions {
  // The kernels of a stage's probe ran this often; the keys are the numbers of stages.
  std::map<std::int64_t, std::uint64_t> forward, backward;
  std::vector<StageStatus> statuses;
  Variables variables;
};

Executions executions(bool recompute) {
  Executions result;
  const testing::ProbeHook hook([&](const testing::ProbeRun& run) {
    ++(run.direction == Direction::forward ? result.forward : result.backward)[run.stage];
  });
  SmallEngine engine({.squares = true, .recompute = recompute});
  engine.step(2);
  result.statuses = engine.runtime().read_status();
  result.variables = engine.runtime().read_variables();
  return result;
}

// 7.6: there are two windows of eight micro-batches. The backward needs what a probe computes. With
// recomputation, every stage but the last one computes it a second time instead of keeping it.
TEST(StageReports, OfRecomputationAgreeWithTheKernelsThatHaveRun) {
  constexpr std::uint64_t micro_batches = 16;
  const Executions once = executions(false), twice = executions(true);
  for (int stage = 0; stage < 4; ++stage) {
    const bool repeats = stage < 3;
    EXPECT_EQ(once.forward.at(stage), micro_batches);
    EXPECT_EQ(twice.forward.at(stage), (repeats ? 2 : 1) * micro_batches) << stage;
    EXPECT_EQ(once.backward.at(stage), micro_batches);
    EXPECT_EQ(twice.backward.at(stage), micro_batches);
    const auto at = static_cast<std::size_t>(stage);
    EXPECT_EQ(once.statuses[at].report.recomputed_runs, 0u);
    EXPECT_EQ(twice.statuses[at].report.recomputed_runs, repeats ? micro_batches : 0) << stage;
  }
  EXPECT_TRUE(testing::same_bits(twice.variables, once.variables));
}

// 4.3: each stage stores the output of its layer, [3,8], once for each micro-batch. The next stage
// loads it for its forward and for its backward, and the last stage for the backward of the loss.
TEST(StageReports, CountEveryCopyOfAnActivation) {
  constexpr std::int64_t micro_batches = 8, bytes = 3 * 8 * 4;
  SmallEngine engine({.offload = true});
  engine.step(1);
  const std::uint64_t loads[] = {0, 2, 2, 3};
  const auto status = engine.runtime().read_status();
  ASSERT_EQ(status.size(), std::size(loads));
  for (const auto& [report, trace] : status) {
    const auto number = static_cast<std::size_t>(report.stage);
    const OffloadReport& of = report.activations;
    EXPECT_EQ(of.bytes, graph::host_stash_slots(engine.plan().stages[number]) * bytes) << number;
    EXPECT_EQ(of.stores, 1u * micro_batches) << number;
    EXPECT_EQ(of.stored_bytes, micro_batches * bytes) << number;
    EXPECT_EQ(of.loads, loads[number] * micro_batches) << number;
    EXPECT_EQ(of.loaded_bytes, static_cast<std::int64_t>(of.loads) * bytes) << number;
  }
}

// 4.3: weights are loaded once for the programs of a window, and once for its update.
TEST(StageReports, CountEveryCopyOfAWeight) {
  SmallEngine engine({.offload = true});
  for (const std::int64_t updates : {1, 2, 3}) {
    engine.step(1);
    for (const auto& [report, trace] : engine.runtime().read_status()) {
      const std::int64_t bytes = (8 * 8 + 8) * 4;
      EXPECT_EQ(report.weights.bytes, bytes);
      EXPECT_EQ(report.weights.loaded_bytes, 2 * updates * bytes);
      EXPECT_EQ(report.weights.stored_bytes, updates * bytes);
      EXPECT_EQ(report.weights.loads, 2u * 2u * static_cast<std::uint64_t>(updates));
      EXPECT_EQ(report.weights.stores, 2u * static_cast<std::uint64_t>(updates));
    }
  }
}

// In inference, nothing changes the weights, so that they are loaded once.
TEST(StageReports, CountTheWeightsOfInferenceOnce) {
  SmallEngine engine({.training = false, .offload = true});
  for (int call = 0; call < 3; ++call) engine.step(4);
  const auto status = engine.runtime().read_status();
  EXPECT_EQ(status.size(), engine.plan().stages.size());
  for (const auto& [report, trace] : status) {
    EXPECT_EQ(report.weights.loaded_bytes, report.weights.bytes);
    EXPECT_GT(report.weights.bytes, 0);
    EXPECT_EQ(report.weights.stores, 0u);
    EXPECT_EQ(report.activations.bytes, 0);
  }
}

TEST(StageReports, ComeReplicaByReplicaStageByStage) {
  SmallEngine engine({.replicas = 3, .deterministic = false});
  engine.step(1);
  const auto statuses = engine.runtime().read_status();
  ASSERT_EQ(statuses.size(), 12u);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_EQ(statuses[i].report.replica, static_cast<int>(i / 4));
    EXPECT_EQ(statuses[i].report.stage, static_cast<int>(i % 4));
    EXPECT_EQ(statuses[i].report.ipu, static_cast<int>(i));
  }
}

TEST(StageReports, HandATraceOverOnce) {
  SmallEngine engine({.trace = true});
  for (int call = 0; call < 2; ++call) {
    engine.step(1);
    for (const StageStatus& status : engine.runtime().read_status())
      EXPECT_EQ(status.trace.size(), 8u + 8u + 1u);
  }
}

// Each of the four stages keeps a quarter of the events that the limit allows.
TEST(StageReports, HandOverTheNewestEventsOfATraceThatIsTooShortAndCountTheOthers) {
  SmallEngine engine({.trace = true, .trace_events = 4 * 5});
  for (int call = 0; call < 2; ++call) {
    engine.step(1);
    for (const StageStatus& status : engine.runtime().read_status()) {
      std::vector<TraceEvent> events;
      status.trace.append_to(events);
      ASSERT_EQ(events.size(), 5u);
      EXPECT_EQ(status.trace.dropped(), 8u + 8u + 1u - 5u) << "since they were asked last";
      EXPECT_EQ(events.back().activity, Activity::update);
      EXPECT_TRUE(std::ranges::is_sorted(events, {}, &TraceEvent::begin_ns));
    }
  }
}

TEST(StageReports, KeepOneEventOfEachStageAtLeast) {
  SmallEngine engine({.trace = true, .trace_events = 1});
  engine.step(1);
  const auto stages = engine.runtime().read_status();
  EXPECT_EQ(stages.size(), engine.plan().stages.size());
  for (const StageStatus& status : stages) EXPECT_EQ(status.trace.size(), 1u);
}

}  // namespace
}  // namespace penstock::actors
