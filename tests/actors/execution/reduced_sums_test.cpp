#include "actors/execution/reduced_sums.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace penstock::actors {
namespace {

using Parts = std::vector<std::pair<std::int64_t, std::int64_t>>;  // offset and place

/// One stage with sums of 40, 64 and 30 elements, and one of 50 elements in the host store.
PipelineSetup setup(std::int64_t least_divided) {
  graph::Plan plan;
  graph::StagePlan& stage = plan.stages.emplace_back();
  std::int64_t offset = 0;
  for (const std::int64_t elements : {40, 64, 30, 50}) {
    const bool on_host = elements == 50;
    const graph::TensorType type{DType::f32, {elements}};
    graph::VariablePlan variable{.variable = static_cast<std::int32_t>(stage.variables.size()),
                                 .type = type,
                                 .trainable = true};
    variable.gradients.push_back({.stage = 0, .offset = on_host ? 0 : offset, .on_host = on_host});
    stage.variables.push_back(variable);
    if (!on_host) offset += (type.bytes() + 63) / 64 * 64;
  }
  stage.accumulator_bytes = offset;
  stage.host_accumulator_bytes = 256;
  PipelineSetup setup{.plan = std::make_shared<const graph::Plan>(std::move(plan)), .replicas = 2};
  setup.sharding.optimizer_state = {.on = true, .minimum_elements = least_divided};
  return setup;
}

UpdateRules rules() {
  const graph::ParameterRule rule{&graph::find_optimizer_rule("adamw"), {}};
  return {.variables = {4, rule}};
}

Parts parts_of(const ReducedLayout& layout) {
  Parts parts;
  for (const ReducedPart& part : layout.parts) parts.emplace_back(part.offset, part.place);
  return parts;
}

TEST(ReducedSums, AreTheBlockAsItIsWhereNothingIsDivided) {
  const ReducedLayout on_ipu = reduced_layout(setup(1000), rules(), 0, false);
  EXPECT_EQ(parts_of(on_ipu), (Parts{{0, 0}}));
  EXPECT_EQ(on_ipu.bytes, 192 + 256 + 128);
  EXPECT_EQ(on_ipu.place_of(192), 192);
  EXPECT_EQ(reduced_layout(setup(1000), rules(), 0, true).bytes, 256);
}

TEST(ReducedSums, LeaveOutWhatReplicasDivide) {
  const PipelineSetup pipeline = setup(60);
  const ReducedLayout on_ipu = reduced_layout(pipeline, rules(), 0, false);
  EXPECT_EQ(parts_of(on_ipu), (Parts{{0, 0}, {192 + 256, 192}}));
  EXPECT_EQ(on_ipu.bytes, 192 + 128);
  EXPECT_EQ(on_ipu.place_of(0), 0);
  EXPECT_EQ(on_ipu.place_of(192 + 256), 192);
  EXPECT_EQ(reduced_layout(pipeline, rules(), 0, true).bytes, 256);
}

TEST(ReducedSums, AreNoneWhereAllIsDivided) {
  for (const bool on_host : {false, true}) {
    const ReducedLayout layout = reduced_layout(setup(2), rules(), 0, on_host);
    EXPECT_TRUE(layout.parts.empty());
    EXPECT_EQ(layout.bytes, 0);
  }
}

}  // namespace
}  // namespace penstock::actors
