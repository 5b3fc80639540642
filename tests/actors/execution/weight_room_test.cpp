#include "actors/execution/weight_room.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock::actors {
namespace {

const graph::TensorType weight_type{DType::f32, {16}};  // A tensor of this type has 64 bytes.

/// Returns a plan of three stages. Stages 0 and 1 each have a weight in the host store, and stage 2
/// has a weight on its IPU.
std::shared_ptr<const graph::Plan> stages_with_weights() {
  graph::Plan plan;
  plan.stages.resize(3);
  for (std::int32_t i = 0; i < 3; ++i) {
    graph::StagePlan& stage = plan.stages[static_cast<std::size_t>(i)];
    plan.variables.push_back({"w" + std::to_string(i), weight_type, true, i});
    const graph::Space space = i < 2 ? graph::Space::weight_room : graph::Space::parameters;
    stage.variables = {{.variable = i, .type = weight_type, .home = {space}, .trainable = true}};
    (i < 2 ? stage.host_parameter_bytes : stage.parameter_bytes) = 64;
  }
  return std::make_shared<const graph::Plan>(std::move(plan));
}

struct Stages {
  std::shared_ptr<const graph::Plan> plan = actors::stages_with_weights();
  Arena first{plan, 0, 1}, second{plan, 1, 1}, third{plan, 2, 1};
};

float first_of(const std::byte* room) {
  return *reinterpret_cast<const float*>(room);
}

TEST(WeightRoom, BringsWeightsOnceUntilThereAreNewerOnes) {
  Stages stages;
  WeightRoom room(64);
  std::ranges::fill(stages.first.variable(0), 1.0f);
  stages.first.weights_changed();
  for (int program = 0; program < 3; ++program) EXPECT_EQ(first_of(room.bring(stages.first)), 1.0f);
  EXPECT_EQ(stages.first.weight_moves().loads, 1u);
  stages.first.write_variable(0, Tensor({16}, std::vector<float>(16, 2.0f)));
  EXPECT_FALSE(room.holds(stages.first));
  EXPECT_EQ(first_of(room.bring(stages.first)), 2.0f);
  EXPECT_EQ(stages.first.weight_moves().loads, 2u);
  EXPECT_EQ(stages.first.weight_moves().loaded_bytes, 128);
}

TEST(WeightRoom, IsTakenByTheStageWhoseProgramRuns) {
  Stages stages;
  WeightRoom room(64);
  std::ranges::fill(stages.first.variable(0), 1.0f);
  std::ranges::fill(stages.second.variable(0), 2.0f);
  EXPECT_EQ(first_of(room.bring(stages.first)), 1.0f);
  EXPECT_EQ(first_of(room.bring(stages.second)), 2.0f);
  EXPECT_FALSE(room.holds(stages.first));
  EXPECT_EQ(first_of(room.bring(stages.first)), 1.0f);
  EXPECT_EQ(stages.first.weight_moves().loads, 2u);
  EXPECT_EQ(stages.second.weight_moves().loads, 1u);
}

TEST(WeightRoom, IsLeftAloneByAStageWhoseWeightsAreOnTheIpu) {
  Stages stages;
  WeightRoom room(64);
  room.bring(stages.first);
  room.bring(stages.third);
  EXPECT_TRUE(room.holds(stages.first));
  EXPECT_EQ(stages.third.weight_moves().loads, 0u);
  EXPECT_EQ(WeightRoom().bring(stages.third), nullptr);
}

}  // namespace
}  // namespace penstock::actors
