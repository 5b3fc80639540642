// 3.7, 3.8: these tests check the turns of phases in a whole small engine, under many orders of its
// messages.

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/plan/phases/residency.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/small_engine.hpp"

namespace penstock::actors {
namespace {

using testing::DeterministicRun;
using testing::ProbeHook;
using testing::ProbeRun;
using testing::same_bits;
using testing::SmallEngine;
using testing::SmallEngineOptions;

constexpr std::int64_t phased_windows = 2;

struct PhasedResult {
  std::vector<ProbeRun> runs;   // The runs are in the order in which they began.
  std::vector<Tensor> tensors;  // These are the outputs, and then the variables.
  std::vector<int> in_flight;   // This has, for each stage, the most micro-batches in flight.
};

PhasedResult train(const SmallEngineOptions& options, std::uint64_t seed) {
  PhasedResult result;
  const ProbeHook hook([&](const ProbeRun& run) { result.runs.push_back(run); });
  SmallEngine engine(options);
  DeterministicRun order(engine.runtime().system(), seed);
  engine.begin(phased_windows);
  order.run();
  result.tensors = engine.runtime().finish_step().outputs;
  for (Tensor& variable : engine.runtime().read_variables())
    result.tensors.push_back(std::move(variable));
  for (const StageStatus& status : engine.runtime().read_status())
    result.in_flight.push_back(status.report.max_in_flight);
  return result;
}

SmallEngineOptions in_phases(const graph::PhaseRequest& request) {
  SmallEngineOptions options;
  options.schedule = "sequential";
  options.gradient_accumulation = 3;
  options.phased = request;
  return options;
}

std::vector<Tensor> bits_of_a_pipeline() {
  SmallEngineOptions options;
  options.gradient_accumulation = 3;
  return train(options, 0).tensors;
}

/// Returns the runs as text: "F0.1" is the forward of stage 0 for micro-batch 1 of its window.
std::string order(const std::vector<ProbeRun>& runs) {
  std::string text;
  for (const ProbeRun& run : runs)
    text += (text.empty() ? "" : " ") +
            std::string(run.direction == Direction::forward ? "F" : "B") +
            std::to_string(run.stage) + "." + std::to_string(run.key.micro_batch);
  return text;
}

std::string twice(const std::string& window) {
  return window + " " + window;
}

TEST(PipelinePhases, PassEachMicroBatchOnAlone) {
  const auto expected = bits_of_a_pipeline();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const PhasedResult result = train(in_phases({}), seed);
    ASSERT_EQ(order(result.runs),
              twice("F0.0 F1.0 F2.0 F3.0 B3.0 B2.0 B1.0 B0.0 F0.1 F1.1 F2.1 F3.1 B3.1 B2.1 B1.1 "
                    "B0.1 F0.2 F1.2 F2.2 F3.2 B3.2 B2.2 B1.2 B0.2"))
        << seed;
    EXPECT_EQ(result.in_flight, (std::vector{1, 1, 1, 1}));
    ASSERT_TRUE(same_bits(result.tensors, expected)) << seed;
  }
}

TEST(PipelinePhases, RunAllOfAWindowBeforeTheNextPhaseBegins) {
  const auto expected = bits_of_a_pipeline();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const PhasedResult result = train(in_phases({.separate_backward = true, .turn = 3}), seed);
    ASSERT_EQ(order(result.runs),
              twice("F0.0 F0.1 F0.2 F1.0 F1.1 F1.2 F2.0 F2.1 F2.2 F3.0 F3.1 F3.2 B3.0 B3.1 B3.2 "
                    "B2.0 B2.1 B2.2 B1.0 B1.1 B1.2 B0.0 B0.1 B0.2"))
        << seed;
    EXPECT_EQ(result.in_flight, (std::vector{3, 3, 3, 3}));
    ASSERT_TRUE(same_bits(result.tensors, expected)) << seed;
  }
}

TEST(PipelinePhases, TurnRoundInTheLastOneUnlessItsBackwardIsSeparate) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const PhasedResult result = train(in_phases({.turn = 3}), seed);
    std::string text = order(result.runs);
    const std::string begin = "F0.0 F0.1 F0.2 F1.0 F1.1 F1.2 F2.0 F2.1 F2.2 ",
                      end = " B2.0 B2.1 B2.2 B1.0 B1.1 B1.2 B0.0 B0.1 B0.2";
    ASSERT_EQ(text, twice(begin + "F3.0 B3.0 F3.1 B3.1 F3.2 B3.2" + end)) << seed;
    EXPECT_EQ(result.in_flight, (std::vector{3, 3, 3, 1}));
  }
}

/// The stages of a phase work through its turn together.
TEST(PipelinePhases, NeverBeginBeforeThePhaseBeforeHasEnded) {
  const auto expected = bits_of_a_pipeline();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const PhasedResult result = train(in_phases({.stages = {2, 2}, .turn = 3}), seed);
    const auto phase = [](const ProbeRun& run) {
      const auto of_stage = static_cast<int>(run.stage / 2);
      return of_stage == 1 ? 1 : run.direction == Direction::forward ? 0 : 2;
    };
    ASSERT_EQ(result.runs.size(), static_cast<std::size_t>(phased_windows * 4 * 3 * 2));
    const auto middle = result.runs.begin() + std::ssize(result.runs) / phased_windows;
    EXPECT_TRUE(std::ranges::is_sorted(result.runs.begin(), middle, {}, phase)) << seed;
    EXPECT_TRUE(std::ranges::is_sorted(middle, result.runs.end(), {}, phase)) << seed;
    ASSERT_TRUE(same_bits(result.tensors, expected)) << seed;
  }
}

/// If a stage has to wait for tensors from the host store, its phase's turn waits, too.
TEST(PipelinePhases, KeepTheirOrderWithAllThatMayBeInTheHostStore) {
  const auto expected = bits_of_a_pipeline();
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const graph::PhaseRequest& request : std::vector<graph::PhaseRequest>{
             {}, {.turn = 3}, {.separate_backward = true, .turn = 3}}) {
      const std::string kept = order(train(in_phases(request), seed).runs);
      SmallEngineOptions options = in_phases(request);
      options.offload = true;
      const PhasedResult moved = train(options, seed);
      ASSERT_EQ(order(moved.runs), kept) << seed;
      ASSERT_TRUE(same_bits(moved.tensors, expected)) << seed;
    }
}

TEST(PipelinePhases, PassMicroBatchesOfInferenceOnAlone) {
  SmallEngineOptions options = in_phases({});
  options.training = false;
  EXPECT_EQ(order(train(options, 1).runs), twice("F0.0 F1.0 F2.0 F3.0"));
}

struct Traced {
  std::vector<TraceEvent> events;  // The events are in the order in which they began.
  std::vector<StageReport> reports;
  std::vector<Tensor> tensors;
  graph::Phases phases;
};

Traced train_offloaded(const graph::PhaseRequest& request, std::optional<std::uint64_t> seed) {
  SmallEngineOptions options = in_phases(request);
  options.offload = options.trace = true;
  SmallEngine engine(options);
  DeterministicRun order = seed ? DeterministicRun(engine.runtime().system(), *seed)
                                : DeterministicRun(engine.runtime().system());
  engine.begin(phased_windows);
  order.run();
  Traced traced{.events = {},
                .reports = {},
                .tensors = engine.runtime().finish_step().outputs,
                .phases = engine.plan().phases};
  for (Tensor& variable : engine.runtime().read_variables())
    traced.tensors.push_back(std::move(variable));
  for (const StageStatus& status : engine.runtime().read_status()) {
    traced.reports.push_back(status.report);
    status.trace.append_to(traced.events);
  }
  std::ranges::sort(traced.events, {}, &TraceEvent::begin_ns);
  return traced;
}

/// Returns how often the weights of `phase` are loaded for forward, and how often for backward,
/// while every phase has its turns once.
std::pair<std::uint64_t, std::uint64_t> loads_of(const graph::Phases& phases, std::int32_t phase) {
  const auto stays = graph::stays_of(phases, true);
  const auto all = std::ranges::count(stays, phase, &graph::Stay::phase);
  return {1, static_cast<std::uint64_t>(all) - 1};
}

const graph::PhaseRequest residencies[] = {
    {},
    {.turn = 3},
    {.separate_backward = true, .turn = 3},
    {.stages = {2, 2}, .turn = 3},
    {.parallel = true},
    {.parallel = true, .turn = 3},
    {.parallel = true, .liveness = PhaseLiveness::off_ipu_after_forward, .turn = 3},
    {.liveness = PhaseLiveness::off_ipu_after_forward},
    {.liveness = PhaseLiveness::off_ipu_after_forward_no_overlap, .turn = 3},
    {.liveness = PhaseLiveness::off_ipu_after_each_phase, .turn = 3},
};

// 3.8: weights come once for each direction of a window if a turn is for a window, and once for
// each direction of a micro-batch otherwise.
TEST(PipelinePhases, BringWeightsOnceForATurnUnlessTheyAreStillThere) {
  const auto expected = bits_of_a_pipeline();
  for (const graph::PhaseRequest& request : residencies)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Traced traced = train_offloaded(request, seed);
      ASSERT_TRUE(same_bits(traced.tensors, expected)) << seed;
      const auto turns = static_cast<std::uint64_t>(phased_windows * 3 / request.turn);
      for (const StageReport& report : traced.reports) {
        const auto [forward, backward] =
            loads_of(traced.phases, traced.phases.of_stage[static_cast<std::size_t>(report.stage)]);
        ASSERT_EQ(report.forward_weight_loads, forward * turns) << seed << ", " << report.stage;
        ASSERT_EQ(report.backward_weight_loads, backward * turns) << seed << ", " << report.stage;
      }
    }
}

/// Returns what the IPUs do, in the order of time, as text: "L1" is the load of the weights of
/// stage 1.
std::string order(const Traced& traced) {
  std::string text;
  for (const TraceEvent& event : traced.events) {
    if (event.activity == Activity::update) continue;
    const std::string stage = std::to_string(event.stage);
    const std::string micro_batch = "." + std::to_string(event.micro_batch % 3);
    text += (text.empty() ? "" : " ") +
            (event.activity == Activity::forward    ? "F" + stage + micro_batch
             : event.activity == Activity::backward ? "B" + stage + micro_batch
                                                    : "L" + stage);
  }
  return text;
}

struct TurnOrder {
  graph::PhaseRequest request;
  // These are the events of a window: those of the forward before the last phase, those in the last
  // phase, and those of the backward after the last phase.
  std::string begin, turn_round, end;
};

// 3.7: the phases' numbers decide whose weights come ahead, stay and leave. The table has the order
// of events in a system that does one thing at a time. In parallel phases, weights that come ahead
// of their turn come to the other IPU.
TEST(PipelinePhases, BringAndDropWeightsByTheirNumbers) {
  using enum PhaseLiveness;
  const std::string ahead = "L0 F0.0 L1 F0.1 F0.2 F1.0 F1.1 L2 F1.2 F2.0 F2.1 L3 F2.2 ",
                    back = " B2.0 L1 B2.1 B2.2 B1.0 L0 B1.1 B1.2 B0.0 B0.1 B0.2",
                    stays = "F3.0 F3.1 F3.2 B3.0 L2 B3.1 B3.2",
                    leaves = "F3.0 F3.1 F3.2 L3 B3.0 L2 B3.1 B3.2",
                    begin = "L0 F0.0 F0.1 F0.2 L1 F1.0 F1.1 F1.2 L2 F2.0 F2.1 F2.2 L3 ",
                    end = " L2 B2.0 B2.1 B2.2 L1 B1.0 B1.1 B1.2 L0 B0.0 B0.1 B0.2",
                    anew = "F3.0 F3.1 F3.2 L3 B3.0 B3.1 B3.2";
  const TurnOrder table[] = {
      {{.turn = 3}, ahead, "F3.0 B3.0 F3.1 B3.1 F3.2 B3.2", back},
      {{.parallel = true, .turn = 3}, ahead, "F3.0 B3.0 F3.1 B3.1 F3.2 B3.2", back},
      {{.separate_backward = true, .turn = 3}, ahead, stays, back},
      {{.liveness = off_ipu_after_forward, .turn = 3}, ahead, leaves, back},
      {{.parallel = true, .liveness = off_ipu_after_forward, .turn = 3}, ahead, leaves, back},
      {{.liveness = off_ipu_after_forward_no_overlap, .turn = 3}, begin, anew, end},
      {{.liveness = off_ipu_after_each_phase, .turn = 3}, begin, anew, end},
  };
  for (const TurnOrder& row : table) {
    const std::string window = row.begin + row.turn_round + row.end;
    EXPECT_EQ(order(train_offloaded(row.request, std::nullopt)).substr(0, window.size()), window);
  }
}

/// Returns how often weights were brought to an IPU between two programs of the same turn.
std::int64_t loads_within_turns(const Traced& traced) {
  std::int64_t within = 0;
  std::optional<std::tuple<std::int32_t, Activity, std::int64_t>> before;
  bool load = false;
  for (const TraceEvent& event : traced.events) {
    if (event.activity == Activity::update) continue;
    if (event.activity == Activity::load) {
      load = true;
      continue;
    }
    const std::tuple turn(traced.phases.of_stage[static_cast<std::size_t>(event.stage)],
                          event.activity, event.micro_batch / traced.phases.turn);
    within += load && turn == before;
    before = turn;
    load = false;
  }
  return within;
}

// Under any order of messages, no weights come while a turn is under way.
TEST(PipelinePhases, BringWeightsBetweenTurnsWhereCopiesMayNotOverlap) {
  for (const auto liveness :
       {PhaseLiveness::off_ipu_after_forward_no_overlap, PhaseLiveness::off_ipu_after_each_phase})
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      EXPECT_EQ(loads_within_turns(train_offloaded({.liveness = liveness, .turn = 3}, seed)), 0)
          << seed;
}

/// An IPU that runs all phases has room for the weights of any two phases that follow each other.
TEST(PipelinePhases, HaveRoomForTwoPhasesOnAnIpuAtMost) {
  const std::int64_t one = train_offloaded({}, 0).reports[0].shared_bytes;
  const std::int64_t alone =
      train_offloaded({.liveness = PhaseLiveness::off_ipu_after_forward_no_overlap}, 0)
          .reports[0]
          .shared_bytes;
  SmallEngineOptions options = in_phases({});
  options.offload = true;
  const SmallEngine engine(options);
  EXPECT_EQ(one - alone, engine.plan().stages[1].host_parameter_bytes);
  EXPECT_EQ(train_offloaded({.parallel = true}, 0).reports[0].shared_bytes, alone)
      << "parallel phases on an IPU are two steps apart";
}

}  // namespace
}  // namespace penstock::actors
