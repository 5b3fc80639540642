// What stages tell of themselves.

#include <gtest/gtest.h>

#include "tests/support/small_engine.hpp"

namespace penstock::actors {
namespace {

using testing::SmallEngine;

std::int64_t trained_bytes(const graph::StagePlan& stage) {
  std::int64_t bytes = 0;
  for (const graph::VariablePlan& variable : stage.variables)
    if (variable.trainable) bytes += variable.type.bytes();
  return bytes;
}

TEST(StageReports, CountEveryByteOnTheIpu) {
  for (const bool offload : {false, true}) {
    SmallEngine engine({.replicas = 2, .offload = offload});
    engine.step(1);
    const auto statuses = engine.runtime().read_status();
    ASSERT_EQ(statuses.size(), 8u);
    for (const auto& [report, trace] : statuses) {
      const auto number = static_cast<std::size_t>(report.stage);
      const graph::StagePlan& stage = engine.plan().stages[number];
      const std::int64_t state = 2 * trained_bytes(stage);  // AdamW's two moments
      EXPECT_EQ(report.optimizer_bytes_on_ipu, offload ? 0 : state);
      EXPECT_EQ(report.optimizer_state.bytes, offload ? state : 0);
      EXPECT_EQ(report.optimizer_state.loaded_bytes, offload ? state : 0) << "for one update";
      EXPECT_GT(stage.scratch_bytes, 512) << "room for two tensors of 64 elements";
      EXPECT_EQ(report.peak_bytes,
                bytes_of_stage(engine.plan(), number).total() + report.optimizer_bytes_on_ipu);
      EXPECT_TRUE(trace.empty());
    }
  }
}

// 4.3: of a layer's output [3,8], which the next stage reads in its forward and its backward, and
// the last one's loss in its own backward.
TEST(StageReports, CountEveryCopyOfAnActivation) {
  constexpr std::int64_t micro_batches = 8, bytes = 3 * 8 * 4;
  SmallEngine engine({.offload = true});
  engine.step(1);
  const std::uint64_t loads[] = {0, 2, 2, 3};
  for (const auto& [report, trace] : engine.runtime().read_status()) {
    const auto number = static_cast<std::size_t>(report.stage);
    const OffloadReport& of = report.activations;
    EXPECT_EQ(of.bytes, engine.plan().stages[number].stash_slots * bytes) << number;
    EXPECT_EQ(of.stores, 1u * micro_batches) << number;
    EXPECT_EQ(of.stored_bytes, micro_batches * bytes) << number;
    EXPECT_EQ(of.loads, loads[number] * micro_batches) << number;
    EXPECT_EQ(of.loaded_bytes, static_cast<std::int64_t>(of.loads) * bytes) << number;
  }
}

// 4.3: once for the programs of a window, once for its update.
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

// In inference nothing changes them: they come once.
TEST(StageReports, CountTheWeightsOfInferenceOnce) {
  SmallEngine engine({.training = false, .offload = true});
  for (int call = 0; call < 3; ++call) engine.step(4);
  for (const auto& [report, trace] : engine.runtime().read_status()) {
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

}  // namespace
}  // namespace penstock::actors
