#include "actors/update/weight_update.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "graph/values/memory.hpp"
#include "tests/actors/update/subtract_rule.hpp"

namespace penstock::actors {
namespace {

using testing::subtract;

constexpr std::int64_t elements = 3;

constexpr graph::Location sum_at(std::int64_t offset) {
  return {.space = graph::Space::accumulators, .offset = offset};
}

/// Returns a plan of one stage with a buffer, a parameter with three uses and a parameter with one
/// use.
std::shared_ptr<const graph::Plan> trained_plan() {
  const graph::TensorType type{DType::f32, {elements}};
  graph::Plan plan;
  plan.training = true;
  plan.variables = {{"mean", type, false, 0}, {"tied", type, true, 0}, {"plain", type, true, 0}};
  graph::StagePlan& stage = plan.stages.emplace_back();
  stage.variables = {{.variable = 0, .type = type, .kept_offset = 0},
                     {.variable = 1,
                      .type = type,
                      .home = {graph::Space::parameters, 0, 64},
                      .trainable = true,
                      .gradients = {{0, sum_at(128)}, {0, sum_at(0)}, {0, sum_at(64)}}},
                     {.variable = 2,
                      .type = type,
                      .home = {graph::Space::parameters, 0, 128},
                      .trainable = true,
                      .gradients = {{0, sum_at(192)}}}};
  stage.parameter_bytes = 192;
  stage.accumulator_bytes = 256;
  stage.kept_bytes = 64;
  return std::make_shared<const graph::Plan>(std::move(plan));
}

struct Fixture {
  explicit Fixture(Reduction reduction = Reduction::sum, double max_grad_norm = 0) {
    auto pipeline = std::make_shared<PipelineSetup>();
    pipeline->plan = trained_plan();
    pipeline->gradient_accumulation = 2;
    pipeline->replicas = 2;
    pipeline->reduction = reduction;
    auto rules = std::make_shared<UpdateRules>();
    rules->variables = {{}, {&subtract, {}}, {&subtract, {}}};
    rules->max_grad_norm = max_grad_norm;
    arena = std::make_shared<Arena>(pipeline->plan, 0, 1);
    update.emplace(pipeline, 0, arena, rules);
    update->set_state(update->new_state());
    update->set_sums(0, {arena});
  }

  void sum(std::int64_t offset, float value) {
    std::ranges::fill(arena->accumulator(sum_at(offset), elements), value);
  }
  float weight(std::size_t k) const { return arena->read_variable(k).as<float>()[0]; }
  float gradient(std::int64_t offset) const {
    return arena->accumulator(sum_at(offset), elements)[1];
  }

  std::shared_ptr<Arena> arena;
  std::optional<WeightUpdate> update;
};

TEST(WeightUpdate, FollowsTheSumOrTheMeanOverMicroBatchesAndReplicas) {
  for (const Reduction reduction : {Reduction::sum, Reduction::mean}) {
    Fixture f(reduction);
    f.sum(192, 12);
    f.update->run({UpdateRound::apply}, {});
    EXPECT_EQ(f.weight(2), reduction == Reduction::sum ? -13 : -4);
    EXPECT_EQ(f.weight(0), 0);
  }
}

TEST(WeightUpdate, AddsTheUsesOfATiedParameterInModelOrder) {
  Fixture f;
  f.sum(128, 1e8f);  // This is use 0.
  f.sum(0, 1);       // This is use 1.
  f.sum(64, -1e8f);  // This is use 2.
  f.update->run({UpdateRound::apply}, {});
  EXPECT_EQ(f.weight(1), -1);  // In f32, (1e8 + 1) - 1e8 is 0. The rule also subtracts the step, 1.
}

TEST(WeightUpdate, CountsItsSteps) {
  Fixture f;
  for (int step = 1; step <= 3; ++step) {
    EXPECT_EQ(f.update->updates(), step - 1);
    f.sum(192, 0);
    f.update->run({UpdateRound::apply}, {});
  }
  EXPECT_EQ(f.weight(2), -1 - 2 - 3);
}

TEST(WeightUpdate, MakesBuffersPartOfWhatIsReadOnlyWithTheWeights) {
  Fixture f(Reduction::sum, 1);
  std::ranges::fill(f.arena->variable(0), 3.0f);
  f.update->run({UpdateRound::measure}, {});
  EXPECT_EQ(f.weight(0), 0);
  f.update->run({UpdateRound::apply}, {});
  EXPECT_EQ(f.weight(0), 3);
}

TEST(WeightUpdate, MeasuresFinalGradientsAndFinishesThemOnce) {
  Fixture f(Reduction::mean, 1);
  f.sum(192, 8);
  f.sum(0, 4);
  f.update->run({UpdateRound::measure}, {});
  const auto& norms = f.update->norms().whole;
  ASSERT_EQ(norms.size(), 2u);
  EXPECT_EQ(norms[0].variable, 1);
  EXPECT_EQ(norms[0].squared, 3 * 1 * 1);
  EXPECT_EQ(norms[1].variable, 2);
  EXPECT_EQ(norms[1].squared, 3 * 2 * 2);
  f.update->run({.round = UpdateRound::apply, .clip_factor = 0.5}, {});
  EXPECT_EQ(f.weight(1), -(0.5f * 1 + 1));
  EXPECT_EQ(f.weight(2), -(0.5f * 2 + 1));
}

TEST(WeightUpdate, ScalesNothingWithoutClipping) {
  Fixture f;
  f.sum(192, 8);
  f.update->run({.round = UpdateRound::apply, .clip_factor = 0.5}, {});
  EXPECT_EQ(f.weight(2), -9);
}

TEST(WeightUpdate, ReadsTheTotalInThePlaceOfTheFirstReplicasSums) {
  Fixture f;
  Fixture other;
  f.sum(192, 1);
  other.sum(192, 4);
  const auto reduced = std::make_shared<ReducedSums>(
      ReducedSums{.on_ipu = {{{0, 256, 0}}, 256}, .replicas = {f.arena, other.arena}});
  f.update->set_sums(0, {f.arena, reduced});
  for (const std::int64_t slice : {0, 1}) add_up_slice(*reduced, slice, {}, nullptr);
  f.update->run({UpdateRound::apply}, {});
  EXPECT_EQ(f.weight(2), -6);
  // The update leaves the sums as they are, because other replicas read them, too.
  EXPECT_EQ(f.gradient(192), 5);
  EXPECT_EQ(other.gradient(192), 4);
}

TEST(WeightUpdate, KeepsStateInTheBlockItIsGiven) {
  Fixture f;
  f.update->run({UpdateRound::apply}, {});
  EXPECT_EQ(f.update->state_bytes_on_ipu(), std::int64_t{2 * elements * sizeof(float)});
  EXPECT_EQ(f.update->state_moves().bytes, 0);
  const auto state = f.update->read_state();
  ASSERT_EQ(state.size(), 2u);
  for (const VariableState& variable : state)
    for (const float count : variable.tensors.at(0).as<float>()) EXPECT_EQ(count, 11);
}

TEST(WeightUpdate, KnowsThatItWasInterrupted) {
  Fixture f;
  f.update->run({UpdateRound::apply}, {});
  EXPECT_TRUE(f.update->whole());
  f.sum(192, 666);
  EXPECT_THROW(f.update->run({UpdateRound::apply}, {}), std::runtime_error);
  EXPECT_FALSE(f.update->whole());
  EXPECT_EQ(f.update->updates(), 1);
}

}  // namespace
}  // namespace penstock::actors
