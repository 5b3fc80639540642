// These tests check weight updates of parameters that replicas divide among each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "actors/update/weight_update.hpp"
#include "actors/update/whole_state.hpp"
#include "graph/plan/shards.hpp"
#include "graph/values/memory.hpp"
#include "tests/actors/update/counting_runner.hpp"
#include "tests/actors/update/subtract_rule.hpp"
#include "tests/support/allocation_counter.hpp"

namespace penstock::actors {
namespace {

using testing::heap_allocations;
using testing::subtract;

/// A ShardFixture has a parameter of seven elements that three replicas divide. The first replica
/// keeps elements 0 to 2, the second keeps elements 3 to 5, and the third keeps element 6 and has
/// room for three.
struct ShardFixture {
  static constexpr std::int64_t size = 7, room = 3, replicas = 3;

  explicit ShardFixture(const graph::OptimizerRule& rule = subtract, double max_grad_norm = 0) {
    const graph::TensorType type{DType::f32, {size}};
    graph::Plan plan;
    plan.training = true;
    plan.variables = {{"weight", type, true, 0}};
    plan.stages = {
        {.variables =
             {{.variable = 0, .type = type, .trainable = true, .gradients = {{.stage = 0}}}},
         .parameter_bytes = 64,
         .accumulator_bytes = 64}};
    auto setup = std::make_shared<PipelineSetup>();
    setup->plan = this->plan = std::make_shared<const graph::Plan>(std::move(plan));
    setup->replicas = replicas;
    setup->reduction = Reduction::sum;
    setup->sharding.optimizer_state = {.on = true, .minimum_elements = 2};
    auto rules = std::make_shared<UpdateRules>();
    rules->variables = {{&rule, {}}};
    rules->max_grad_norm = max_grad_norm;
    for (std::int64_t replica = 0; replica < replicas; ++replica) {
      const Arena* const first = replica > 0 ? arenas[0].get() : nullptr;
      arenas.push_back(std::make_shared<Arena>(setup->plan, 0, 1, first));
      updates.emplace_back(setup, 0, arenas.back(), rules, replica);
      updates.back().set_state(updates.back().new_state());
    }
  }

  /// Returns the sum of all replicas' gradients of element `i`, added in the order of the replicas.
  /// In f32, another order may give another sum.
  static float sum(std::int64_t i) { return (1e8f + static_cast<float>(2 * i)) - 1e8f; }

  void scatter() {
    const auto reduced = std::make_shared<ReducedSums>();
    reduced->replicas = arenas;
    for (std::int64_t i = 0; i < size; ++i) {
      const float of_replica[] = {1e8f, static_cast<float>(2 * i), -1e8f};
      for (std::size_t replica = 0; replica < arenas.size(); ++replica)
        arenas[replica]->accumulator(first_sum, size)[static_cast<std::size_t>(i)] =
            of_replica[replica];
    }
    for (std::size_t replica = 0; replica < updates.size(); ++replica) {
      updates[replica].set_sums(0, {arenas[replica], reduced});
      updates[replica].run({UpdateRound::reduce}, {});
    }
  }

  /// Applies the update of one replica. Before that, the replica's sums outside its own shard
  /// become NaN, so that it shows if an update reads them.
  void apply(std::int64_t replica) {
    const auto at = static_cast<std::size_t>(replica);
    const graph::Part shard = graph::shard_of(size, replicas, replica);
    const auto sums = arenas[at]->accumulator(first_sum, size);
    for (std::int64_t i = 0; i < size; ++i)
      if (i < shard.begin || i >= shard.end)
        sums[static_cast<std::size_t>(i)] = std::numeric_limits<float>::quiet_NaN();
    updates[at].run({UpdateRound::apply}, {});
  }

  void apply() {
    scatter();
    for (std::int64_t replica = 0; replica < replicas; ++replica) apply(replica);
  }

  void gather() {
    for (WeightUpdate& update : updates) update.run({UpdateRound::gather}, {});
  }

  std::shared_ptr<const graph::Plan> plan;
  std::vector<std::shared_ptr<Arena>> arenas;
  std::vector<WeightUpdate> updates;
};

TEST(WeightUpdate, ReadsAndWritesItsShardOnly) {
  ShardFixture f;
  f.scatter();
  for (std::int64_t replica = 0; replica < ShardFixture::replicas; ++replica) {
    const auto at = static_cast<std::size_t>(replica);
    f.apply(replica);
    const graph::Part shard = graph::shard_of(ShardFixture::size, ShardFixture::replicas, replica);
    const auto weights = f.arenas[at]->variable(0);
    for (std::int64_t i = 0; i < ShardFixture::size; ++i)
      EXPECT_EQ(weights[static_cast<std::size_t>(i)], i < shard.end ? -ShardFixture::sum(i) - 1 : 0)
          << replica;
    EXPECT_FALSE(f.updates[at].whole()) << "weights of two updates";
    EXPECT_EQ(f.updates[at].updates(), 0);
  }
  f.gather();
  for (WeightUpdate& update : f.updates) {
    EXPECT_TRUE(update.whole());
    EXPECT_EQ(update.updates(), 1);
  }
}

TEST(WeightUpdate, TakesTheRoundsOfAnUpdateInTheirOrder) {
  const ShardFixture plain, lamb(graph::find_optimizer_rule("lamb"));
  constexpr auto reduce = UpdateRound::reduce, measure = UpdateRound::measure,
                 follow = UpdateRound::follow, apply = UpdateRound::apply,
                 gather = UpdateRound::gather;
  const auto may_run = [](const ShardFixture& fixture, std::optional<UpdateRound> last,
                          UpdateRound round, std::size_t directions = 0) {
    return fixture.updates[0].may_run({round, 1, std::vector<double>(directions)}, last);
  };
  EXPECT_TRUE(may_run(plain, {}, reduce));
  for (const UpdateRound round : {measure, follow, apply, gather}) {
    EXPECT_FALSE(may_run(plain, {}, round))
        << "the sums are not added up before " << name_of(round);
    EXPECT_EQ(may_run(plain, reduce, round), round != gather) << name_of(round);
    EXPECT_FALSE(may_run(plain, round, round)) << name_of(round) << " twice";
    EXPECT_FALSE(may_run(plain, round, reduce)) << "reduce after " << name_of(round);
  }
  EXPECT_FALSE(may_run(plain, follow, measure));
  EXPECT_TRUE(may_run(plain, apply, gather));
  EXPECT_FALSE(may_run(plain, reduce, static_cast<UpdateRound>(200)));

  EXPECT_TRUE(may_run(plain, follow, apply, 1));
  EXPECT_FALSE(may_run(plain, follow, apply, 2)) << "the plan has one variable";
  EXPECT_TRUE(may_run(lamb, follow, apply, 1));
  EXPECT_FALSE(may_run(lamb, follow, apply, 0)) << "LAMB needs the norm of the direction";
  EXPECT_FALSE(may_run(lamb, follow, apply, 2));
  EXPECT_FALSE(may_run(lamb, measure, apply, 1)) << "no direction has been measured";

  const ShardFixture clipped(subtract, 1);
  for (const UpdateRound round : {follow, apply}) {
    EXPECT_FALSE(may_run(clipped, reduce, round)) << "no gradient has been measured";
    EXPECT_TRUE(may_run(clipped, measure, round)) << name_of(round);
  }

  for (const std::optional<UpdateRound> last : {std::optional<UpdateRound>(), {apply}})
    EXPECT_FALSE(plain.updates[0].is_done_after(last));
  EXPECT_TRUE(plain.updates[0].is_done_after(gather));
}

TEST(WeightUpdate, AllocatesNothingBetweenReplicas) {
  ShardFixture f;
  f.scatter();  // This allocates the reduced sums before the count begins.
  const std::uint64_t before = heap_allocations();
  for (const UpdateRound round :
       {UpdateRound::reduce, UpdateRound::measure, UpdateRound::apply, UpdateRound::gather})
    for (WeightUpdate& update : f.updates) update.run({round}, {});
  EXPECT_EQ(heap_allocations(), before);
}

TEST(WeightUpdate, ExchangesNormsForRoomForTheNextOnesWithoutAllocating) {
  ShardFixture f;
  f.scatter();
  WeightUpdate& update = f.updates[0];
  UpdateNorms norms;
  update.make_room(norms);
  const std::uint64_t before = heap_allocations();
  update.run({UpdateRound::measure}, {});
  update.exchange_norms(norms);
  update.run({UpdateRound::measure}, {});
  EXPECT_EQ(heap_allocations(), before);
  ASSERT_EQ(norms.shards.size(), 1u);
  ASSERT_EQ(norms.shards[0].part.tail.size(), 3u);
  EXPECT_EQ(norms.shards[0].part.tail, update.norms().shards[0].part.tail);
}

// 7.10: the shards of the three replicas have 3, 3 and 1 of the 7 elements.
TEST(WeightUpdate, AddsUpItsShardOfAllReplicasInTheirOrderAndCountsWhatItReads) {
  ShardFixture f;
  f.scatter();
  for (std::int64_t replica = 0; replica < ShardFixture::replicas; ++replica) {
    const auto at = static_cast<std::size_t>(replica);
    const graph::Part shard = graph::shard_of(ShardFixture::size, ShardFixture::replicas, replica);
    const auto sums = f.arenas[at]->accumulator(first_sum, ShardFixture::size);
    for (std::int64_t i = shard.begin; i < shard.end; ++i)
      EXPECT_EQ(sums[static_cast<std::size_t>(i)], ShardFixture::sum(i)) << i;
    const CollectiveReport& counts = f.updates[at].collectives();
    EXPECT_EQ(counts.reduce_scatters, 1u);
    EXPECT_EQ(counts.scattered_bytes, 2 * 4 * (shard.end - shard.begin)) << replica;
    EXPECT_EQ(counts.all_reduces, 0u);
  }
}

TEST(WeightUpdate, KeepsStateOfItsShardAndCountsItsPadding) {
  ShardFixture f;
  f.apply();
  std::vector<VariableState> states;
  for (const WeightUpdate& update : f.updates) {
    EXPECT_EQ(update.state_bytes_on_ipu(), ShardFixture::room * 4);
    for (VariableState& state : update.read_state()) states.push_back(std::move(state));
  }
  ASSERT_EQ(states.size(), 3u);
  EXPECT_EQ(states[2].first_element, 6);
  EXPECT_EQ(states[2].tensors.at(0).shape(), Shape{1});
  std::ranges::reverse(states);  // The answers of the replicas may arrive in any order.
  const auto whole = whole_state(*f.plan, states);
  ASSERT_EQ(whole.at(0).size(), 1u);
  EXPECT_EQ(whole[0][0].shape(), Shape{ShardFixture::size});
  for (const float count : whole[0][0].as<float>()) EXPECT_EQ(count, 11);
}

TEST(WeightUpdate, RestoresStateInTheBlockThatIsThere) {
  ShardFixture f;
  const std::vector<float> twos(ShardFixture::size, 2);
  const OptimizerTensors whole{
      .updates = 5, .variables = {{Tensor({ShardFixture::size}, std::span<const float>(twos))}}};
  const std::uint64_t blocks = memory_counters().blocks_allocated;
  f.updates[0].restore_state(whole);
  EXPECT_EQ(memory_counters().blocks_allocated, blocks);
  EXPECT_EQ(f.updates[0].read_state().at(0).tensors.at(0).as<float>()[0], 2);
}

TEST(WeightUpdate, TakesItsShardOutOfWholeState) {
  ShardFixture f;
  std::vector<float> numbers(ShardFixture::size);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const OptimizerTensors whole{
      .updates = 5, .variables = {{Tensor({ShardFixture::size}, std::span<const float>(numbers))}}};
  for (std::int64_t replica = 0; replica < ShardFixture::replicas; ++replica) {
    WeightUpdate& update = f.updates[static_cast<std::size_t>(replica)];
    update.restore_state(whole);
    EXPECT_EQ(update.updates(), 5);
    const auto state = update.read_state();
    EXPECT_EQ(state.at(0).tensors.at(0).as<float>()[0], static_cast<float>(3 * replica));
  }
}

}  // namespace
}  // namespace penstock::actors
