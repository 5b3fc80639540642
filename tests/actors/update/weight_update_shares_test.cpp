// These tests are about the updates of replicas that share the memory of their weights: each
// element is updated once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "actors/update/weight_update.hpp"
#include "actors/update/whole_state.hpp"
#include "tests/actors/update/subtract_rule.hpp"

namespace penstock::actors {
namespace {

using testing::subtract;

constexpr graph::Location accumulator_at(std::int64_t offset) {
  return {.space = graph::Space::accumulators, .offset = offset};
}

/// A SharingReplicas has a parameter of 100 elements and a tied parameter of 40 elements with two
/// uses, in one stage of `replicas` replicas, which update both by `rule`.
struct SharingReplicas {
  static constexpr std::int64_t plain = 100, tied = 40;

  explicit SharingReplicas(std::int64_t replicas = 2, const graph::OptimizerRule& rule = subtract) {
    const graph::TensorType plain_type{DType::f32, {plain}}, tied_type{DType::f32, {tied}};
    graph::Plan plan;
    plan.training = true;
    plan.variables = {{"plain", plain_type, true, 0}, {"tied", tied_type, true, 0}};
    plan.stages = {
        {.variables = {{.variable = 0,
                        .type = plain_type,
                        .trainable = true,
                        .gradients = {{0, accumulator_at(0)}}},
                       {.variable = 1,
                        .type = tied_type,
                        .home = {graph::Space::parameters, 0, 448},
                        .trainable = true,
                        .gradients = {{0, accumulator_at(448)}, {0, accumulator_at(640)}}}},
         .parameter_bytes = 640,
         .accumulator_bytes = 832}};
    auto setup = std::make_shared<PipelineSetup>();
    setup->plan = this->plan = std::make_shared<const graph::Plan>(std::move(plan));
    setup->replicas = replicas;
    setup->reduction = Reduction::sum;
    auto rules = std::make_shared<UpdateRules>();
    rules->variables = {{&rule, {}}, {&rule, {}}};
    for (std::int64_t replica = 0; replica < replicas; ++replica) {
      const Arena* const first = replica > 0 ? arenas[0].get() : nullptr;
      arenas.push_back(std::make_shared<Arena>(setup->plan, 0, 1, first));
      updates.emplace_back(setup, 0, arenas.back(), rules, replica);
      updates.back().set_state(updates.back().new_state());
    }
    const auto reduced = std::make_shared<ReducedSums>(
        ReducedSums{.on_ipu = {{{0, 832, 0}}, 832}, .replicas = arenas});
    for (std::size_t replica = 0; replica < updates.size(); ++replica)
      updates[replica].set_sums(0, {arenas[replica], reduced});
  }

  /// Gives every sum of replica r the elements r + 1, and runs the update round by round.
  void update() {
    for (std::size_t replica = 0; replica < arenas.size(); ++replica) {
      const std::span<std::byte> sums = arenas[replica]->accumulators();
      const auto elements = static_cast<std::int64_t>(sums.size() / sizeof(float));
      std::ranges::fill(arenas[replica]->accumulator(accumulator_at(0), elements),
                        static_cast<float>(replica + 1));
    }
    for (const UpdateRound round : {UpdateRound::reduce, UpdateRound::measure, UpdateRound::apply})
      for (WeightUpdate& update : updates) update.run({round}, {});
  }

  std::shared_ptr<const graph::Plan> plan;
  std::vector<std::shared_ptr<Arena>> arenas;
  std::vector<WeightUpdate> updates;
};

// The sums of the replicas are 1 and 2, and the tied parameter has two uses. The rule subtracts the
// sum and the number of the step.
TEST(SharedWeights, AreUpdatedOnceByTheReplicasTogether) {
  SharingReplicas shares;
  for (int step = 1; step <= 2; ++step) {
    shares.update();
    for (const auto& arena : shares.arenas) {
      for (const float weight : arena->variable(0)) EXPECT_EQ(weight, step == 1 ? -4 : -4 - 5);
      for (const float weight : arena->variable(1)) EXPECT_EQ(weight, step == 1 ? -7 : -7 - 8);
    }
    for (const WeightUpdate& update : shares.updates) EXPECT_EQ(update.updates(), step);
  }
}

TEST(SharedWeights, HaveOneStateWhichTheReplicasKeepTogether) {
  SharingReplicas shares;
  shares.update();
  std::vector<VariableState> states;
  for (const WeightUpdate& update : shares.updates) {
    for (VariableState& state : update.read_state()) states.push_back(std::move(state));
    EXPECT_EQ(update.shared_state_bytes(), (SharingReplicas::plain + SharingReplicas::tied) * 4);
    EXPECT_EQ(update.state_bytes_on_ipu(), update.shared_state_bytes());
  }
  ASSERT_EQ(states.size(), 3u) << "the tied parameter is the first replica's alone";
  EXPECT_EQ(states[0].tensors.at(0).shape(), Shape{64}) << "whole cache lines";
  EXPECT_EQ(states[2].first_element, 64);
  const auto whole = whole_state(*shares.plan, states);
  for (const auto& tensors : whole) {
    ASSERT_EQ(tensors.size(), 1u);
    for (const float count : tensors[0].as<float>()) EXPECT_EQ(count, 11);
  }
  for (WeightUpdate& update : shares.updates)
    update.restore_state({.updates = 1, .variables = whole});
  shares.update();
  EXPECT_EQ(shares.updates[1].read_state().at(0).tensors.at(0).as<float>()[0], 12);
}

// The sums of the replicas are 1, 2 and 3, and the replicas have shares of 48, 48 and 4 elements.
TEST(SharedWeights, AreUpdatedOnceByThreeReplicas) {
  SharingReplicas shares(3);
  shares.update();
  std::vector<VariableState> states;
  for (const WeightUpdate& update : shares.updates)
    std::ranges::move(update.read_state(), std::back_inserter(states));
  for (const float weight : shares.arenas[2]->variable(0)) EXPECT_EQ(weight, -7);
  for (const float weight : shares.arenas[2]->variable(1)) EXPECT_EQ(weight, -13);
  for (const auto& tensors : whole_state(*shares.plan, states))
    for (const float count : tensors.at(0).as<float>()) EXPECT_EQ(count, 11);
}

// A rule that needs whole parameters, such as LAMB, is applied by the first replica alone.
TEST(SharedWeights, AreUpdatedByTheFirstReplicaIfTheRuleIsNotElementwise) {
  graph::OptimizerRule whole = subtract;
  whole.elementwise = false;
  SharingReplicas shares(2, whole);
  shares.update();
  for (const float weight : shares.arenas[1]->variable(0)) EXPECT_EQ(weight, -4);
  for (const float weight : shares.arenas[1]->variable(1)) EXPECT_EQ(weight, -7);
  const std::vector<VariableState> states = shares.updates[0].read_state();
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[0].tensors.at(0).shape(), Shape{SharingReplicas::plain});
  EXPECT_TRUE(shares.updates[1].read_state().empty());
  EXPECT_EQ(shares.updates[1].state_bytes_on_ipu(), shares.updates[0].state_bytes_on_ipu());
}

TEST(SharedWeights, HaveTheNormsThatTheFirstReplicaMeasures) {
  SharingReplicas shares;
  shares.update();
  EXPECT_EQ(shares.updates[0].norms().whole.size(), 2u);
  EXPECT_TRUE(shares.updates[1].norms().whole.empty());
}

// The first replica measures whole sums, whatever its share of an update is.
TEST(SharedWeights, HaveScratchForTheNormOfASumThatTheHostStoreKeeps) {
  constexpr std::int64_t elements = 10'000;
  const graph::TensorType type{DType::f32, {elements}};
  graph::Plan plan;
  plan.training = true;
  plan.variables = {{"weight", type, true, 0}};
  plan.stages = {{.variables = {{.variable = 0,
                                 .type = type,
                                 .trainable = true,
                                 .gradients = {{0, {.space = graph::Space::host_accumulators}}}}},
                  .parameter_bytes = type.bytes(),
                  .host_accumulator_bytes = type.bytes()}};
  auto setup = std::make_shared<PipelineSetup>();
  setup->plan = std::make_shared<const graph::Plan>(std::move(plan));
  setup->replicas = 2;
  auto rules = std::make_shared<UpdateRules>();
  rules->variables = {{&subtract, {}}};
  rules->max_grad_norm = 1;
  const auto arena = std::make_shared<Arena>(setup->plan, 0, 1);
  for (const std::int64_t replica : {0, 1}) {
    const WeightUpdate update(setup, 0, arena, rules, replica);
    EXPECT_GE(update.staging_bytes(), graph::norm_block * std::int64_t{sizeof(float)});
  }
}

}  // namespace
}  // namespace penstock::actors
