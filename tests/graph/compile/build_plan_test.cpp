#include "graph/compile/build_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "graph/plan/schedules/schedules.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/staged.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::Staged;

/// Returns stages A and B, which share one weight, `shared`. B has the loss.
Staged tied() {
  ModelBuilder model;
  const auto x = model.input("x", {4}), target = model.input("target", {4});
  const auto weight = model.parameter("shared", {4, 4});
  const auto h = model.block("A").apply("linear", {x, weight}, {}, "a");
  const auto y = model.block("B").apply("linear", {h, weight}, {}, "b");
  model.output("y", y);
  model.loss(model.apply("mse_loss", {y, target}, {}, "mse"));
  return Staged(model.graph());
}

Plan plan_of(const Staged& staged, PlanRequest request = {}) {
  request.training = true;
  request.schedule = &grouped;
  return build_plan(staged.graph, staged.assignment, staged.partition, request);
}

TEST(BuildPlan, NamesInputsAndOutputsWithTheLossLast) {
  const Plan plan = plan_of(tied());
  ASSERT_EQ(plan.inputs.size(), 2U);
  EXPECT_EQ(plan.inputs[0].name, "x");
  ASSERT_EQ(plan.outputs.size(), 2U);
  EXPECT_EQ(plan.outputs[0].name, "y");
  EXPECT_EQ(plan.outputs[1].name, "loss");
  EXPECT_EQ(plan.loss, 1);
}

TEST(BuildPlan, GivesATiedParameterOneOwnerWithTheGradientsOfAllUses) {
  const Plan plan = plan_of(tied());
  ASSERT_EQ(plan.variables.size(), 1U);
  const std::int32_t owner = plan.variables[0].stage, other = 1 - owner;
  const VariablePlan& owned = plan.stages[index(owner)].variables.at(0);
  const VariablePlan& copy = plan.stages[index(other)].variables.at(0);
  EXPECT_EQ(owned.owner, none);
  EXPECT_EQ(owned.gradients.size(), 2U);
  ASSERT_EQ(owned.copies.size(), 1U);
  EXPECT_EQ(owned.copies[0].stage, other);
  EXPECT_EQ(copy.owner, owner);
  EXPECT_TRUE(copy.gradients.empty());
}

TEST(BuildPlan, HasMemoryForNoMoreMicroBatchesThanAWindow) {
  const Staged staged = tied();
  ASSERT_EQ(plan_of(staged).stages[0].in_flight, 3);
  for (const std::int64_t window : {1, 2, 3, 4}) {
    const Plan plan = plan_of(staged, {.window = window});
    EXPECT_EQ(plan.stages[0].in_flight, std::min<std::int64_t>(window, 3));
    EXPECT_EQ(plan.stages[1].in_flight, 1);
    // With the schedule interleaved, the stage would hold two of them at the most.
    EXPECT_EQ(bytes_of_stage(plan, 0, &interleaved).total() < stage_bytes(plan, 0), window > 2);
  }
}

TEST(BuildPlan, JoinsStagesByEdgesThatSayWhereTheirTensorsLie) {
  const Plan plan = plan_of(tied());
  const auto edge = [&](EdgeKind kind) {
    return *std::ranges::find(plan.edges, kind, &Edge::kind);
  };
  EXPECT_EQ(edge(EdgeKind::input).input, 0);
  EXPECT_EQ(edge(EdgeKind::activation).name, "a");
  EXPECT_EQ(edge(EdgeKind::activation).source.space, Space::stash);
  EXPECT_EQ(edge(EdgeKind::gradient).source.space, Space::sent_back);
  EXPECT_EQ(edge(EdgeKind::gradient).from, 1);
}

TEST(BuildPlan, KeepsAsManyMicroBatchesAsTheScheduleAndTwoMoreForOutputs) {
  const Plan plan = plan_of(tied());
  for (int stage : {0, 1}) {
    const StagePlan& one = plan.stages[index(stage)];
    EXPECT_EQ(one.in_flight, grouped.in_flight(stage, 2));
    EXPECT_EQ(one.output_slots, stage == 1 ? one.in_flight + 2 : 0);
  }
}

TEST(BuildPlan, GivesBothProgramsOfAStageOneScratch) {
  const Plan plan = plan_of(tied(), {.in_place = false});
  EXPECT_FALSE(plan.stages.empty());
  for (const StagePlan& stage : plan.stages) {
    std::int64_t end = 0;
    for (const Program* program : {&stage.forward, &stage.backward})
      for (const Instruction& one : program->instructions) {
        for (std::size_t i = 0; i < one.outputs.size(); ++i)
          if (one.outputs[i].space == Space::scratch)
            end = std::max(end, one.outputs[i].offset + one.output_types[i].bytes());
        if (one.workspace_bytes > 0)
          end = std::max(end, one.workspace_offset + one.workspace_bytes);
      }
    EXPECT_LE(end, stage.scratch_bytes);
    EXPECT_GT(end, stage.scratch_bytes - 64) << "no more than its programs need";
  }
}

TEST(BuildPlan, KeepsParametersInTheWeightRoomWhereTheHostStoreHasThem) {
  constexpr Offload all{.on = true, .minimum_bytes = 0};
  const Plan plan = plan_of(
      tied(),
      {.offload = {.optimizer_state = {}, .accumulators = all, .activations = {}, .weights = all}});
  for (const StagePlan& stage : plan.stages) {
    EXPECT_EQ(stage.variables.at(0).home, (Location{.space = Space::weight_room}));
    EXPECT_EQ(stage.parameter_bytes, 0);
    EXPECT_EQ(stage.host_parameter_bytes, 64);
  }
  for (const StagePlan& stage : plan.stages)
    for (const GradientPlan& gradient : stage.variables.at(0).gradients)
      EXPECT_EQ(gradient.home, (Location{.space = Space::host_accumulators}));
}

}  // namespace
}  // namespace penstock::graph
