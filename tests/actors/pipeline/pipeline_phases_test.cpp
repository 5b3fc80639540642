// 3.7, 3.8: turns of phases, as they emerge from the messages of a whole small engine, under many
// orders of these.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

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

constexpr std::int64_t windows = 2;

struct Result {
  std::vector<ProbeRun> runs;   // in the order of work
  std::vector<Tensor> tensors;  // outputs, then variables
  std::vector<int> in_flight;   // by stage, at most
};

Result train(const SmallEngineOptions& options, std::uint64_t seed) {
  Result result;
  const ProbeHook hook([&](const ProbeRun& run) { result.runs.push_back(run); });
  SmallEngine engine(options);
  DeterministicRun order(engine.runtime().system(), seed);
  engine.begin(windows);
  order.run();
  result.tensors = engine.runtime().finish_step();
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

/// "F0.1" is the forward of stage 0 and micro-batch 1 of its window.
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
    const Result result = train(in_phases({}), seed);
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
    const Result result = train(in_phases({.separate_backward = true, .turn = 3}), seed);
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
    const Result result = train(in_phases({.turn = 3}), seed);
    std::string text = order(result.runs);
    const std::string begin = "F0.0 F0.1 F0.2 F1.0 F1.1 F1.2 F2.0 F2.1 F2.2 ",
                      end = " B2.0 B2.1 B2.2 B1.0 B1.1 B1.2 B0.0 B0.1 B0.2";
    ASSERT_EQ(text, twice(begin + "F3.0 B3.0 F3.1 B3.1 F3.2 B3.2" + end)) << seed;
    EXPECT_EQ(result.in_flight, (std::vector{3, 3, 3, 1}));
  }
}

/// Where the stages of a phase are in turn, which they work through together.
TEST(PipelinePhases, NeverBeginBeforeThePhaseBeforeHasEnded) {
  const auto expected = bits_of_a_pipeline();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Result result = train(in_phases({.stages = {2, 2}, .turn = 3}), seed);
    const auto phase = [](const ProbeRun& run) {
      const auto of_stage = static_cast<int>(run.stage / 2);
      return of_stage == 1 ? 1 : run.direction == Direction::forward ? 0 : 2;
    };
    ASSERT_EQ(result.runs.size(), static_cast<std::size_t>(windows * 4 * 3 * 2));
    const auto middle = result.runs.begin() + std::ssize(result.runs) / windows;
    EXPECT_TRUE(std::ranges::is_sorted(result.runs.begin(), middle, {}, phase)) << seed;
    EXPECT_TRUE(std::ranges::is_sorted(middle, result.runs.end(), {}, phase)) << seed;
    ASSERT_TRUE(same_bits(result.tensors, expected)) << seed;
  }
}

/// Where a stage has to wait for what it needs, its turn waits with it.
TEST(PipelinePhases, KeepTheirOrderWithAllThatMayBeInTheHostStore) {
  const auto expected = bits_of_a_pipeline();
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const graph::PhaseRequest& request : std::vector<graph::PhaseRequest>{
             {}, {.turn = 3}, {.separate_backward = true, .turn = 3}}) {
      const std::string kept = order(train(in_phases(request), seed).runs);
      SmallEngineOptions options = in_phases(request);
      options.offload = true;
      const Result moved = train(options, seed);
      ASSERT_EQ(order(moved.runs), kept) << seed;
      ASSERT_TRUE(same_bits(moved.tensors, expected)) << seed;
    }
}

TEST(PipelinePhases, PassMicroBatchesOfInferenceOnAlone) {
  SmallEngineOptions options = in_phases({});
  options.training = false;
  EXPECT_EQ(order(train(options, 1).runs), twice("F0.0 F1.0 F2.0 F3.0"));
}

}  // namespace
}  // namespace penstock::actors
