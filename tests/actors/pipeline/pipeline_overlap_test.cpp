// These tests show what runs at the same time, and what never does, on real threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "actors/pipeline/device_actor.hpp"
#include "graph/values/memory.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/small_cast.hpp"

namespace penstock::actors {
namespace {

using testing::Latch;
using testing::ProbeHook;
using testing::ProbeRun;
using testing::run_step;
using testing::same_bits;
using testing::SmallCast;
using testing::SmallEngine;
using testing::SmallEngineOptions;
using testing::SmallNetwork;

/// Returns the trace of one step of two windows of 16 micro-batches, in the order in which the
/// events began.
std::vector<TraceEvent> trace_of(SmallEngineOptions options) {
  constexpr std::int64_t windows = 2;
  options.gradient_accumulation = 16;
  options.trace = true;
  options.deterministic = false;
  SmallEngine engine(options);
  engine.step(windows);
  std::vector<TraceEvent> events;
  for (const StageStatus& status : engine.runtime().read_status()) status.trace.append_to(events);
  std::ranges::sort(events, {}, &TraceEvent::begin_ns);
  const std::int64_t parts_of_update = 1 + (options.max_grad_norm > 0) + (options.replicas > 1);
  EXPECT_EQ(events.size(),
            static_cast<std::size_t>((2 * 16 + parts_of_update) * 4 * windows * options.replicas));
  return events;
}

/// Returns how many pairs of runs of one replica overlap in time.
int overlaps(const std::vector<TraceEvent>& events) {
  int count = 0;
  for (std::size_t i = 0; i < events.size(); ++i)
    for (std::size_t k = i + 1; k < events.size() && events[k].begin_ns < events[i].end_ns; ++k)
      if (events[k].replica == events[i].replica) ++count;
  return count;
}

/// Returns the largest number of runs that went on at the same time.
std::ptrdiff_t most_at_once(const std::vector<TraceEvent>& events) {
  std::ptrdiff_t most = 0;
  for (const TraceEvent& now : events)
    most = std::max(most, std::ranges::count_if(events, [&](const TraceEvent& other) {
                      return other.begin_ns <= now.begin_ns && now.begin_ns < other.end_ns;
                    }));
  return most;
}

TEST(PipelineOverlap, IsRealBetweenStagesThatWorkOnDifferentMicroBatches) {
  for (const std::string schedule : {"grouped", "interleaved"}) {
    // Micro-batch 1 in stage 0 and micro-batch 0 in stage 1 end only once both have begun.
    Latch first, second;
    const ProbeHook hook([&](const ProbeRun& run) {
      if (run.direction == Direction::backward) return;
      if (run.stage == 0 && run.key.micro_batch == 1) {
        first.open();
        EXPECT_TRUE(second.wait());
      }
      if (run.stage == 1 && run.key.micro_batch == 0) {
        second.open();
        EXPECT_TRUE(first.wait());
      }
    });
    EXPECT_GT(overlaps(trace_of({.schedule = schedule})), 0);
  }
}

/// A Meeting is a point at which threads wait until `count_` threads have come.
class Meeting {
 public:
  explicit Meeting(int count) : count_(count) {}
  /// Waits for the other threads. Returns false if not all of them come within a minute.
  bool wait() {
    if (++here_ == count_) complete_.open();
    return complete_.wait();
  }

 private:
  int count_;
  std::atomic<int> here_ = 0;
  Latch complete_;
};

// C1 of docs/reference.md: the fourth micro-batch is in the first stage while the first micro-batch
// is in the last stage. Each of the four runs ends only once the other three have begun.
TEST(PipelineOverlap, KeepsFourIpusOfOnePipelineBusyAtTheSameTime) {
  for (const std::string schedule : {"grouped", "interleaved"})
    for (const bool devices_on_threads : {false, true}) {
      const SmallNetwork network({.schedule = schedule});
      Meeting meeting(4);
      std::atomic<int> met = 0;
      const ProbeHook hook([&](const ProbeRun& run) {
        const auto fourth = static_cast<std::uint32_t>(3 - run.stage);
        if (run.direction == Direction::backward || run.key.micro_batch != fourth) return;
        if (meeting.wait()) ++met;
      });
      PipelineRuntime runtime(network.setup(), network.rules(),
                              {.threads = 4, .devices_on_threads = devices_on_threads});
      runtime.write_variables(network.first_variables());
      run_step(runtime, network.inputs(1), network.micro_batches(1));
      EXPECT_EQ(met, 4) << schedule;
    }
}

// C3, 3.4: a replica has one micro-batch at a time, so that no two of its stages work at the same
// time.
TEST(PipelineOverlap, DoesNotHappenInsideAReplicaWhereOneMicroBatchIsAllowed) {
  for (const std::int64_t replicas : {1, 2})
    for (const double max_grad_norm : {0.0, 0.5}) {
      const auto events = trace_of(
          {.schedule = "sequential", .replicas = replicas, .max_grad_norm = max_grad_norm});
      EXPECT_EQ(overlaps(events), 0);
    }
}

TEST(PipelineOverlap, HasAThreadForEachIpuIfAskedAndTheSameBitsHoweverActorsAreScheduled) {
  const SmallNetwork network({.gradient_accumulation = 16});
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const ProbeHook hook([&](const ProbeRun&) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  const auto train = [&](const SystemOptions& system) {
    threads.clear();
    PipelineRuntime runtime(network.setup(), network.rules(), system);
    runtime.write_variables(network.first_variables());
    run_step(runtime, network.inputs(2), network.micro_batches(2));
    return runtime.read_variables();
  };
  const Variables expected = train({.threads = 1});
  EXPECT_EQ(threads.size(), 1u);
  EXPECT_TRUE(same_bits(train({.threads = 1, .devices_on_threads = true}), expected));
  EXPECT_EQ(threads.size(), 4u);
  EXPECT_TRUE(same_bits(train({.threads = 2, .max_throughput = 1}), expected));
}

/// A HeldLoad shows when a load of weights has begun and has ended, and says when the load may end.
struct HeldLoad {
  Latch begun, may_end, ended;
};

DeviceHandle::behavior_type device_of_held_loads(DeviceHandle::stateful_pointer<DeviceState> self,
                                                 DeviceSetup setup, HeldLoad* load) {
  self->state.start(self, std::move(setup));
  return {[=](RunProgram& request) { self->state.on_run_program(request); },
          [=](BringWeights& request) {
            load->begun.open();
            EXPECT_TRUE(load->may_end.wait());
            self->state.on_bring_weights(request);
            load->ended.open();
          },
          [=](RunUpdate& request) { self->state.on_run_update(request); }};
}

/// While an IpuOfHeldLoads lives, stage 1 is alone on an IPU with a thread of its own, whose loads
/// of weights end only when `load` allows it.
class IpuOfHeldLoads {
 public:
  IpuOfHeldLoads(SmallCast& cast, HeldLoad& load) {
    constexpr std::int64_t enough = 1 << 16;
    StageLinks links = cast.stage_links(1);
    links.device = device_ =
        cast.system().spawn(RunsOn::own_thread, device_of_held_loads,
                            DeviceSetup{.pipeline = cast.pipeline(),
                                        .scratch = allocate_block(enough),
                                        .scratch_bytes = enough,
                                        .supervisor = links.supervisor,
                                        .weight_rooms = {WeightRoom(enough), WeightRoom(enough)},
                                        .pulse = std::make_shared<IpuPulse>(1)},
                            &load);
    caf::anon_send(cast.actor<StageHandle>(cast.stage_name(1)), std::move(links));
  }
  ~IpuOfHeldLoads() { caf::anon_send_exit(device_, caf::exit_reason::user_shutdown); }
  IpuOfHeldLoads(const IpuOfHeldLoads&) = delete;
  IpuOfHeldLoads& operator=(const IpuOfHeldLoads&) = delete;

 private:
  DeviceHandle device_;
};

/// Trains for one update, and returns the weights after it.
Variables train(SmallCast& cast) {
  cast.begin_windows(1);
  cast.finish();
  return cast.variables();
}

// 3.7: a phase's programs and the loads for the next phase do not wait for each other. A load
// begins while one program runs, and ends while the next one runs.
TEST(PipelineOverlap, IsRealBetweenAPhaseAndLoadsOfTheNextOnTheOtherIpu) {
  const SmallEngineOptions options{.schedule = "sequential",
                                   .phased = graph::PhaseRequest{.parallel = true, .turn = 8},
                                   .offload = true};
  SmallCast undisturbed(options);
  const Variables expected = train(undisturbed);
  HeldLoad load;
  const ProbeHook hook([&](const ProbeRun& run) {
    if (run.stage != 0 || run.direction == Direction::backward) return;
    EXPECT_TRUE(run.key.micro_batch != 0 || load.begun.wait());
    if (run.key.micro_batch != 1) return;
    load.may_end.open();
    EXPECT_TRUE(load.ended.wait());
  });
  SmallCast cast(options, {.threads = 2});
  const IpuOfHeldLoads ipu(cast, load);
  EXPECT_TRUE(same_bits(train(cast), expected));
}

/// Returns the behavior of an actor that takes the place of `ipu` for an optimizer. The actor opens
/// `reduces` when it is asked to add up the replicas' sums, and passes all work on to `ipu`.
DeviceHandle::behavior_type device_that_tells(DeviceHandle::pointer self, const DeviceHandle& ipu,
                                              Latch* reduces) {
  return {[](RunProgram&) {}, [](BringWeights&) {},
          [=](RunUpdate& request) {
            if (request.order.round == UpdateRound::reduce) reduces->open();
            self->send(ipu, std::move(request));
          }};
}

// The replicas' sums of the last stage are added up while the first stage still runs a backward.
// That backward ends only once the last stage has been asked for the addition.
TEST(PipelineOverlap, IsRealBetweenTheReductionOfOneStageAndTheBackwardOfAnother) {
  const SmallEngineOptions options{.replicas = 2, .gradient_accumulation = 2};
  SmallCast undisturbed(options);
  const Variables expected = train(undisturbed);
  Latch reduces;
  const ProbeHook hook([&](const ProbeRun& run) {
    if (run.stage == 0 && run.direction == Direction::backward && run.key.micro_batch == 1 &&
        run.key.replica == 0) {
      EXPECT_TRUE(reduces.wait());
    }
  });
  SmallCast cast(options, {.threads = 2});
  const auto device = cast.system().spawn(RunsOn::workers, device_that_tells,
                                          cast.actor<DeviceHandle>("IPU 3"), &reduces);
  OptimizerLinks links = cast.optimizer_links(3);
  links.device = device;
  cast.introduce(3, std::move(links));
  EXPECT_TRUE(same_bits(train(cast), expected));
  caf::anon_send_exit(device, caf::exit_reason::user_shutdown);
}

TEST(PipelineOverlap, IsRealBetweenReplicasThatAllowOneMicroBatchEach) {
  // Each replica's first run ends only once the first run of the other replica has begun.
  Latch begun[2];
  const ProbeHook hook([&](const ProbeRun& run) {
    if (run.stage != 0 || run.direction == Direction::backward || run.key.micro_batch != 0) return;
    begun[run.key.replica].open();
    EXPECT_TRUE(begun[1 - run.key.replica].wait());
  });
  const auto events = trace_of({.schedule = "sequential", .replicas = 2});
  EXPECT_EQ(overlaps(events), 0);
  EXPECT_EQ(most_at_once(events), 2);
}

TEST(PipelineOverlap, NeverHappensOnOneIpu) {
  const auto events = trace_of({.replicas = 2});
  std::size_t seen = 0;
  for (std::int32_t ipu = 0; ipu < 8; ++ipu) {
    std::int64_t free_at = 0;
    for (const TraceEvent& event : events) {
      if (event.ipu != ipu) continue;
      ++seen;
      EXPECT_GE(event.begin_ns, free_at);
      free_at = event.end_ns;
    }
  }
  EXPECT_EQ(seen, events.size());
}

}  // namespace
}  // namespace penstock::actors
