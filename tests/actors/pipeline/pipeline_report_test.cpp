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
