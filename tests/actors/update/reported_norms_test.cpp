#include "actors/update/reported_norms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "graph/plan/shards.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using graph::NormPart;
using testing::refusal;

// Two replicas divide the state of `large`, which LAMB updates, and of `medium` and `plain`, which
// AdamW updates. They do not divide that of `small`. Stage 0 has `small`, stage 1 has `large` and
// `medium`, and stage 2 has `plain`.
constexpr std::int32_t small = 0, large = 1, medium = 2, plain = 3;
constexpr std::int64_t norm_elements = 7, norm_replicas = 2;

struct NormsFixture {
  NormsFixture() {
    graph::Plan plan;
    plan.training = true;
    plan.stages.resize(3);
    const auto add = [&](const char* name, std::size_t stage, std::int64_t size) {
      const graph::TensorType type{DType::f32, {size}};
      const auto variable = static_cast<std::int32_t>(plan.variables.size());
      const auto number = static_cast<std::int32_t>(stage);
      plan.variables.push_back({name, type, true, number});
      plan.stages[stage].variables.push_back({.variable = variable,
                                              .type = type,
                                              .trainable = true,
                                              .gradients = {{.stage = number}}});
    };
    add("small", 0, 2);
    add("large", 1, norm_elements);
    add("medium", 1, norm_elements);
    add("plain", 2, norm_elements);
    setup = std::make_shared<PipelineSetup>();
    setup->plan = std::make_shared<const graph::Plan>(std::move(plan));
    setup->replicas = norm_replicas;
    setup->sharding.optimizer_state = {.on = true, .minimum_elements = norm_elements};
    const auto &lamb = graph::find_optimizer_rule("lamb"),
               &adamw = graph::find_optimizer_rule("adamw");
    UpdateRules rules;
    rules.variables = {{&lamb, {}}, {&lamb, {}}, {&adamw, {}}, {&adamw, {}}};
    norms = std::make_unique<ReportedNorms>(setup, rules);
  }

  std::shared_ptr<PipelineSetup> setup;
  std::unique_ptr<ReportedNorms> norms;
};

/// Returns the elements of a tensor. The bits of the sum of their squares depend on its order.
std::vector<float> norm_elements_of(float scale) {
  return {1e8f * scale, scale, 3 * scale, 0.7f * scale, 1e8f * scale, 1.3f * scale, 7 * scale};
}

/// Returns the part that a replica has of the tensor with the elements `whole`. Both replicas have
/// elements of the only block.
NormPart part_for(std::int32_t replica, const std::vector<float>& whole) {
  const auto shard = graph::shard_of(norm_elements, norm_replicas, replica);
  NormPart part;
  (replica == 0 ? part.tail : part.head)
      .assign(whole.begin() + shard.begin, whole.begin() + shard.end);
  return part;
}

/// Returns what stage 1 reports in the round `measure`.
UpdateNorms report_of(std::int32_t replica) {
  return {{},
          {{large, part_for(replica, norm_elements_of(1))},
           {medium, part_for(replica, norm_elements_of(2))}}};
}

TEST(ReportedNorms, AddUpShardsInTheOrderOfReplicasWhicheverCameFirst) {
  NormsFixture fixture;
  ReportedNorms& norms = *fixture.norms;
  EXPECT_TRUE(norms.any_sharded());
  EXPECT_TRUE(norms.any_followed());
  UpdateNorms whole{{{small, 0.5}}, {}}, none, second = report_of(1), first = report_of(0);
  UpdateNorms first_plain{{}, {{plain, part_for(0, norm_elements_of(3))}}};
  UpdateNorms second_plain{{}, {{plain, part_for(1, norm_elements_of(3))}}};
  const std::size_t before = testing::heap_allocations();
  norms.take(UpdateRound::measure, 1, 1, second);
  norms.take(UpdateRound::measure, 1, 2, second_plain);
  norms.take(UpdateRound::measure, 0, 0, whole);
  norms.take(UpdateRound::measure, 1, 0, none);
  norms.take(UpdateRound::measure, 0, 2, first_plain);
  norms.take(UpdateRound::measure, 0, 1, first);
  norms.add_up(UpdateRound::measure);
  EXPECT_EQ(testing::heap_allocations(), before);
  const auto expected = [](float scale) { return graph::squared_norm(norm_elements_of(scale)); };
  EXPECT_EQ(norms.gradients(), (std::vector<double>{0.5, expected(1), expected(2), expected(3)}));
  std::vector<float> turned = norm_elements_of(1);
  std::set<double> sums;
  for (std::size_t i = 0; i < turned.size(); ++i) {
    sums.insert(graph::squared_norm(turned));
    std::rotate(turned.begin(), turned.begin() + 1, turned.end());
  }
  EXPECT_GT(sums.size(), 1u) << "the order makes no difference here";
}

TEST(ReportedNorms, LeaveOutWhatTheRoundFollowDoesNotMeasure) {
  NormsFixture fixture;
  for (const std::int32_t replica : {0, 1}) {
    UpdateNorms small_stage, plain_stage;
    UpdateNorms report{{}, {{large, part_for(replica, norm_elements_of(1))}, {medium, {}}}};
    fixture.norms->take(UpdateRound::follow, replica, 0, small_stage);
    fixture.norms->take(UpdateRound::follow, replica, 1, report);
    fixture.norms->take(UpdateRound::follow, replica, 2, plain_stage);
  }
  fixture.norms->add_up(UpdateRound::follow);
  EXPECT_EQ(fixture.norms->directions()[large], graph::squared_norm(norm_elements_of(1)));
  UpdateNorms no_part{{}, {{large, {}}, {medium, {}}}}, plain_norm{{}, {{plain, {}}}};
  EXPECT_NE(
      refusal(Errc::internal, [&] { fixture.norms->take(UpdateRound::follow, 0, 1, no_part); }),
      "accepted");
  EXPECT_NE(
      refusal(Errc::internal, [&] { fixture.norms->take(UpdateRound::follow, 0, 2, plain_norm); }),
      "accepted");
}

TEST(ReportedNorms, RefuseNormsThatTheRoundDoesNotMeasure) {
  NormsFixture fixture;
  const auto refuses = [&](std::int32_t replica, std::int32_t stage, UpdateNorms norms) {
    EXPECT_EQ(refusal(Errc::internal,
                      [&] { fixture.norms->take(UpdateRound::measure, replica, stage, norms); }),
              "the message RoundDone of " +
                  stage_name(*fixture.setup, replica, static_cast<std::size_t>(stage)) +
                  " does not have the norms that the round \"measure\" measures there, one of each "
                  "variable and as long as its shard");
  };
  refuses(0, 0, {});
  refuses(0, 0, {{{large, 1}}, {}});
  refuses(0, 0, {{{small, 1}, {small, 1}}, {}});
  refuses(0, 0, {{{-1, 1}}, {}});
  refuses(0, 0, {{{4, 1}}, {}});
  refuses(1, 0, {{{small, 1}}, {}});
  refuses(0, 0, {{{small, 1}}, {{large, part_for(0, norm_elements_of(1))}}});
  refuses(0, 1, report_of(1));  // These are the elements of the other replica's shard.
  const std::vector<std::function<void(UpdateNorms&)>> changes = {
      [](UpdateNorms& norms) { norms.shards.pop_back(); },
      [](UpdateNorms& norms) { norms.shards.push_back(norms.shards[0]); },
      [](UpdateNorms& norms) { std::swap(norms.shards[0], norms.shards[1]); },
      [](UpdateNorms& norms) { norms.shards[1].variable = 1 << 30; },
      [](UpdateNorms& norms) { norms.shards[0].part.head.push_back(1); },
      [](UpdateNorms& norms) { norms.shards[0].part.tail.resize(1 << 16); },
      [](UpdateNorms& norms) { norms.shards[1].part.blocks.push_back(1); },
      [](UpdateNorms& norms) { norms.shards[1].part = {}; }};
  for (const auto& change : changes) {
    UpdateNorms changed = report_of(0);
    change(changed);
    refuses(0, 1, std::move(changed));
  }
}

}  // namespace
}  // namespace penstock::actors
