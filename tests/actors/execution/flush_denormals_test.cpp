#include "actors/execution/flush_denormals.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "graph/kernels/kernel_table.hpp"
#include "tests/support/small_engine.hpp"

namespace penstock::actors {
namespace {

using testing::ProbeHook;
using testing::ProbeRun;
using testing::SmallEngine;

constexpr float smallest_normal = std::numeric_limits<float>::min();

/// Returns `factor` times `x` as a kernel computes it on this thread.
float product(float factor, float x) {
  float y = 1;
  graph::kernel_table().arithmetic.scale(1, factor, &x, &y);
  return y;
}

bool results_are_flushed() {
  return product(0.25f, smallest_normal) == 0;
}

bool operands_are_flushed() {
  return product(4, smallest_normal / 2) == 0;
}

TEST(FlushDenormals, ReachesOperandsAndResultsAndEndsWithItsLife) {
  ASSERT_FALSE(results_are_flushed());
  {
    const FlushDenormals flush;
    EXPECT_TRUE(results_are_flushed());
    EXPECT_TRUE(operands_are_flushed());
    { const FlushDenormals nested; }
    EXPECT_TRUE(results_are_flushed());
  }
  EXPECT_FALSE(results_are_flushed());
  EXPECT_FALSE(operands_are_flushed());
}

std::atomic<int> updates_flushed;

const graph::OptimizerRule observed{
    .name = "observed",
    .state = [](const graph::Hyper&) -> std::vector<graph::StateTensor> { return {}; },
    .update = [](const graph::Hyper&, std::int64_t, std::span<float>, const graph::SummedGradient&,
                 std::span<const std::span<float>>) { updates_flushed += results_are_flushed(); }};

TEST(FlushDenormals, HoldsInEveryProgramAndUpdateAndNeverForTheHost) {
  for (const bool deterministic : {true, false}) {
    std::atomic<int> runs{0}, flushed{0};
    updates_flushed = 0;
    const ProbeHook hook([&](const ProbeRun&) {
      ++runs;
      flushed += results_are_flushed();
    });
    SmallEngine engine({.own_rule = &observed, .deterministic = deterministic});
    engine.step(1);
    EXPECT_GT(runs, 0);
    EXPECT_EQ(flushed, runs);
    EXPECT_GT(updates_flushed, 0);
    EXPECT_FALSE(results_are_flushed()) << "deterministic " << deterministic;
  }
}

TEST(FlushDenormals, EndsWhereAProgramThrows) {
  const ProbeHook hook([](const ProbeRun&) { throw 13; });
  SmallEngine engine({.deterministic = true});
  EXPECT_THROW(engine.step(1), Error);
  EXPECT_FALSE(results_are_flushed());
}

}  // namespace
}  // namespace penstock::actors
