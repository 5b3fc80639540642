#include "actors/execution/weight_update.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "actors/execution/whole_state.hpp"
#include "engine/values/memory.hpp"
#include "graph/shards.hpp"

namespace penstock::actors {
namespace {

/// w -= gradient + step, state counts up; throws at a gradient of 666.
const graph::OptimizerRule subtract{
    .name = "subtract",
    .state = [](const graph::Hyper&) -> std::vector<graph::StateTensor> {
      return {{"count", 10.0f}};
    },
    .update =
        [](const graph::Hyper&, std::int64_t step, std::span<float> weight,
           const graph::SummedGradient& gradient, std::span<const std::span<float>> state) {
          for (std::size_t i = 0; i < weight.size(); ++i) {
            const float g = gradient.sum[i] * gradient.scale * gradient.clip;
            if (g == 666) throw std::runtime_error("no luck");
            weight[i] -= g + static_cast<float>(step);
            gradient.cleared[i] = 0;
            ++state[0][i];
          }
        }};

constexpr std::int64_t elements = 3;

/// One stage with a buffer, a parameter with three uses and one with a single use.
std::shared_ptr<const graph::Plan> plan() {
  const graph::TensorType type{DType::f32, {elements}};
  graph::Plan plan;
  plan.training = true;
  plan.variables = {{"mean", type, false, 0}, {"tied", type, true, 0}, {"plain", type, true, 0}};
  graph::StagePlan& stage = plan.stages.emplace_back();
  stage.variables = {
      {.variable = 0, .type = type, .offset = 0, .kept_offset = 0},
      {.variable = 1,
       .type = type,
       .offset = 64,
       .trainable = true,
       .gradients = {{0, 128}, {0, 0}, {0, 64}}},
      {.variable = 2, .type = type, .offset = 128, .trainable = true, .gradients = {{0, 192}}}};
  stage.parameter_bytes = 192;
  stage.accumulator_bytes = 256;
  stage.kept_bytes = 64;
  return std::make_shared<const graph::Plan>(std::move(plan));
}

struct Fixture {
  explicit Fixture(Reduction reduction = Reduction::sum, double max_grad_norm = 0) {
    auto own = std::make_shared<PipelineSetup>();
    own->plan = plan();
    own->gradient_accumulation = 2;
    own->replicas = 2;
    own->reduction = reduction;
    auto rules = std::make_shared<UpdateRules>();
    rules->variables = {{}, {&subtract, {}}, {&subtract, {}}};
    rules->max_grad_norm = max_grad_norm;
    arena = std::make_shared<Arena>(own->plan, 0, 1);
    update.emplace(own, 0, arena, rules);
    update->set_state(update->new_state());
    update->set_sums(0, {arena});
  }

  void sum(std::int64_t offset, float value) {
    std::ranges::fill(arena->accumulator(offset, elements), value);
  }
  float weight(std::size_t k) const { return arena->read_variable(k).as<float>()[0]; }
  float gradient(std::int64_t offset) const { return arena->accumulator(offset, elements)[1]; }

  std::shared_ptr<Arena> arena;
  std::optional<WeightUpdate> update;
};

TEST(WeightUpdate, FollowsTheSumOrTheMeanOverMicroBatchesAndReplicas) {
  for (const Reduction reduction : {Reduction::sum, Reduction::mean}) {
    Fixture f(reduction);
    f.sum(192, 12);
    f.update->run(UpdatePhase::apply, {});
    EXPECT_EQ(f.weight(2), reduction == Reduction::sum ? -13 : -4);
    EXPECT_EQ(f.weight(0), 0);
  }
}

TEST(WeightUpdate, AddsTheUsesOfATiedParameterInModelOrder) {
  Fixture f;
  f.sum(128, 1e8f);  // use 0
  f.sum(0, 1);       // use 1
  f.sum(64, -1e8f);  // use 2
  f.update->run(UpdatePhase::apply, {});
  EXPECT_EQ(f.weight(1), -1);  // (1e8 + 1) - 1e8 is 0 in f32, then the step's 1
}

TEST(WeightUpdate, BeginsEveryWindowWithSumsOfZeroAndTheNextStep) {
  Fixture f;
  for (int step = 1; step <= 3; ++step) {
    EXPECT_EQ(f.update->updates(), step - 1);
    f.sum(192, 0);
    f.update->run(UpdatePhase::apply, {});
    for (const std::byte b : f.arena->accumulators()) ASSERT_EQ(b, std::byte{0});
  }
  EXPECT_EQ(f.weight(2), -1 - 2 - 3);
}

TEST(WeightUpdate, MakesBuffersPartOfWhatIsReadOnlyWithTheWeights) {
  Fixture f(Reduction::sum, 1);
  std::ranges::fill(f.arena->variable(0), 3.0f);
  f.update->run(UpdatePhase::measure, {});
  EXPECT_EQ(f.weight(0), 0);
  f.update->run(UpdatePhase::apply, {});
  EXPECT_EQ(f.weight(0), 3);
}

TEST(WeightUpdate, MeasuresFinalGradientsAndFinishesThemOnce) {
  Fixture f(Reduction::mean, 1);
  f.sum(192, 8);
  f.sum(0, 4);
  f.update->run(UpdatePhase::measure, {});
  const auto& norms = f.update->squared_norms();
  ASSERT_EQ(norms.size(), 2u);
  EXPECT_EQ(norms[0].variable, 1);
  EXPECT_EQ(norms[0].squared, 3 * 1 * 1);
  EXPECT_EQ(norms[1].variable, 2);
  EXPECT_EQ(norms[1].squared, 3 * 2 * 2);
  f.update->set_clip_factor(0.5);
  f.update->run(UpdatePhase::apply, {});
  EXPECT_EQ(f.weight(1), -(0.5f * 1 + 1));
  EXPECT_EQ(f.weight(2), -(0.5f * 2 + 1));
}

TEST(WeightUpdate, ScalesNothingWithoutClipping) {
  Fixture f;
  f.update->set_clip_factor(0.5);
  f.sum(192, 8);
  f.update->run(UpdatePhase::apply, {});
  EXPECT_EQ(f.weight(2), -9);
}

TEST(WeightUpdate, ReadsTheReplicasTotalAndNotItsOwnSums) {
  Fixture f;
  const auto total = allocate_block(256);
  std::fill_n(reinterpret_cast<float*>(total.get() + 192), elements, 5.0f);
  f.sum(192, 1);
  const ReducedTotal of_all{{{{0, 256, 0}}, 256}, total};
  f.update->set_sums(0, {f.arena, std::make_shared<ReducedSums>(ReducedSums{of_all})});
  f.update->run(UpdatePhase::apply, {});
  EXPECT_EQ(f.weight(2), -6);
  EXPECT_EQ(reinterpret_cast<const float*>(total.get() + 192)[0], 5);  // others read it too
}

TEST(WeightUpdate, KeepsStateInTheBlockItIsGiven) {
  Fixture f;
  f.update->run(UpdatePhase::apply, {});
  EXPECT_EQ(f.update->state_bytes_on_ipu(), std::int64_t{2 * elements * sizeof(float)});
  EXPECT_EQ(f.update->state_moves().bytes, 0);
  const auto state = f.update->read_state();
  ASSERT_EQ(state.size(), 2u);
  for (const VariableState& variable : state)
    for (const float count : variable.tensors.at(0).as<float>()) EXPECT_EQ(count, 11);
}

TEST(WeightUpdate, KnowsThatItWasInterrupted) {
  Fixture f;
  f.update->run(UpdatePhase::apply, {});
  EXPECT_TRUE(f.update->whole());
  f.sum(192, 666);
  EXPECT_THROW(f.update->run(UpdatePhase::apply, {}), std::runtime_error);
  EXPECT_FALSE(f.update->whole());
  EXPECT_EQ(f.update->updates(), 1);
}

/// Runs the parts in reverse, and counts them.
struct CountingRunner : graph::PartRunner {
  void run(std::int32_t parts, const std::function<void(std::int32_t)>& work) override {
    for (std::int32_t part = parts; part-- > 0; ++count) work(part);
  }
  std::int32_t count = 0;
};

struct Updated {
  Tensor weight;
  std::vector<Tensor> state;
  std::int32_t parts = 0;  ///< that were run by themselves
  OffloadReport moves;
  OffloadReport weight_moves;
};

/// One parameter after two updates by a rule, its state on the IPU or, with scratch, off it; the
/// parameter itself too, if asked for.
Updated updated(const char* rule, std::int64_t size, std::int32_t threads,
                std::int64_t scratch_bytes = 0, bool weight_on_host = false) {
  const graph::TensorType type{DType::f32, {size}};
  graph::Plan plan;
  plan.training = true;
  plan.threads_per_ipu = threads;
  plan.variables = {{"weight", type, true, 0}};
  plan.stages = {{.variables = {{.variable = 0,
                                 .type = type,
                                 .on_host = weight_on_host,
                                 .trainable = true,
                                 .gradients = {{0, 0}}}},
                  .parameter_bytes = weight_on_host ? 0 : type.bytes(),
                  .host_parameter_bytes = weight_on_host ? type.bytes() : 0,
                  .accumulator_bytes = type.bytes()}};
  auto setup = std::make_shared<PipelineSetup>();
  setup->plan = std::make_shared<const graph::Plan>(std::move(plan));
  setup->offload.optimizer_state.on = scratch_bytes > 0;
  auto rules = std::make_shared<UpdateRules>();
  rules->variables = {{&graph::find_optimizer_rule(rule), {.weight_decay = 0.01}}};
  const auto arena = std::make_shared<Arena>(setup->plan, 0, 1);
  WeightUpdate update(setup, 0, arena, rules);
  update.set_state(update.new_state());
  update.set_sums(0, {arena});
  std::iota(arena->variable(0).begin(), arena->variable(0).end(), -100.0f);
  CountingRunner runner;
  const auto scratch = allocate_block(static_cast<std::size_t>(scratch_bytes));
  for (int step = 0; step < 2; ++step) {
    std::iota(arena->accumulator(0, size).begin(), arena->accumulator(0, size).end(), 7.0f);
    update.run(UpdatePhase::apply, {scratch.get(), static_cast<std::size_t>(scratch_bytes)},
               &runner);
    for (const float sum : arena->accumulator(0, size)) EXPECT_EQ(sum, 0);
  }
  return {arena->read_variable(0), update.read_state().at(0).tensors, runner.count,
          update.state_moves(), arena->weight_moves()};
}

TEST(WeightUpdate, SharesLargeParametersWithoutChangingABit) {
  constexpr std::int64_t large = 100'003;
  for (const char* rule : {"sgd", "adamw", "lamb"}) {
    const Updated alone = updated(rule, large, 1);
    EXPECT_EQ(alone.parts, 0);
    const Updated shared = updated(rule, large, 3);
    EXPECT_EQ(shared.parts, std::string(rule) == "lamb" ? 0 : 3 * 2) << rule;
    EXPECT_EQ(std::memcmp(alone.weight.raw(), shared.weight.raw(), alone.weight.bytes()), 0)
        << rule;
  }
  EXPECT_EQ(updated("sgd", 1000, 3).parts, 0) << "not worth the while";
}

// 4.3: what comes and goes is counted, and changes no bit.
TEST(WeightUpdate, WorksOnOffloadedStateInPiecesThatFitIntoScratch) {
  struct Row {
    const char* rule;
    std::int64_t size;
    std::int64_t scratch;
    std::int32_t threads;
    std::uint64_t pieces;  ///< of each tensor and update
  };
  constexpr std::int64_t large = 100'003;
  const Row rows[] = {
      {"adamw", 100, 1024, 1, 1},         {"adamw", 5000, 8192, 1, 5},
      {"adamw", large, 8192, 1, 98},      {"adamw", large, 8192, 3, 98},
      {"adamw", large, 400'000, 3, 3},    {"adamw", large, 900'000, 3, 1},
      {"lamb", large, 2 * 400'064, 1, 1}, {"lamb", large, 2 * 400'064, 3, 1},
  };
  for (const Row& row : rows) {
    const std::string what = std::string(row.rule) + ", " + std::to_string(row.size) + " in " +
                             std::to_string(row.scratch) + " with " + std::to_string(row.threads) +
                             " threads";
    const Updated kept = updated(row.rule, row.size, row.threads);
    const Updated moved = updated(row.rule, row.size, row.threads, row.scratch);
    EXPECT_EQ(std::memcmp(kept.weight.raw(), moved.weight.raw(), kept.weight.bytes()), 0) << what;
    ASSERT_EQ(moved.state.size(), 2u);
    for (std::size_t s = 0; s < 2; ++s)
      EXPECT_EQ(std::memcmp(kept.state[s].raw(), moved.state[s].raw(), kept.state[s].bytes()), 0)
          << what;
    const std::int64_t bytes = 2 * row.size * 4;
    EXPECT_EQ(moved.moves.bytes, bytes) << what;
    EXPECT_EQ(moved.moves.loads, 2 * 2 * row.pieces) << what;
    EXPECT_EQ(moved.moves.stores, 2 * 2 * row.pieces) << what;
    EXPECT_EQ(moved.moves.loaded_bytes, 2 * bytes) << what;
    EXPECT_EQ(moved.moves.stored_bytes, 2 * bytes) << what;
    EXPECT_EQ(kept.moves.bytes, 0) << what;
    EXPECT_EQ(kept.moves.loads, 0u) << what;
  }
}

// 4.3: beside the state that comes with them, in as large pieces as all of them leave room for.
TEST(WeightUpdate, WorksOnOffloadedWeightsInPiecesThatFitIntoScratch) {
  struct Row {
    const char* rule;
    std::int64_t scratch;
    std::int32_t threads;
    std::uint64_t pieces;  ///< of each update
  };
  constexpr std::int64_t size = 100'003;
  const Row rows[] = {{"sgd", 4096, 1, 98},
                      {"adamw", 3 * 4096, 1, 98},
                      {"adamw", 3 * 400'064, 3, 1},
                      {"lamb", 3 * 400'064, 1, 1}};
  for (const Row& row : rows) {
    const Updated kept = updated(row.rule, size, row.threads);
    const Updated moved = updated(row.rule, size, row.threads, row.scratch, true);
    EXPECT_EQ(std::memcmp(kept.weight.raw(), moved.weight.raw(), kept.weight.bytes()), 0)
        << row.rule;
    EXPECT_EQ(moved.weight_moves.bytes, 4 * size) << row.rule;
    EXPECT_EQ(moved.weight_moves.loads, 2 * row.pieces) << row.rule;
    EXPECT_EQ(moved.weight_moves.stores, 2 * row.pieces) << row.rule;
    EXPECT_EQ(moved.weight_moves.loaded_bytes, 2 * 4 * size) << row.rule;
    EXPECT_EQ(moved.weight_moves.stored_bytes, 2 * 4 * size) << row.rule;
    EXPECT_EQ(kept.weight_moves.loads, 0u) << row.rule;
  }
}

/// A parameter of seven elements, of which each of three replicas keeps three: 0 to 2, 3 to 5, 6.
struct ShardFixture {
  static constexpr std::int64_t size = 7, room = 3, replicas = 3;

  ShardFixture() {
    const graph::TensorType type{DType::f32, {size}};
    graph::Plan plan;
    plan.training = true;
    plan.variables = {{"weight", type, true, 0}};
    plan.stages = {
        {.variables = {{.variable = 0, .type = type, .trainable = true, .gradients = {{0, 0}}}},
         .parameter_bytes = 64,
         .accumulator_bytes = 64}};
    auto setup = std::make_shared<PipelineSetup>();
    setup->plan = this->plan = std::make_shared<const graph::Plan>(std::move(plan));
    setup->replicas = replicas;
    setup->reduction = Reduction::sum;
    setup->sharding.optimizer_state = {.on = true, .minimum_elements = 2};
    auto rules = std::make_shared<UpdateRules>();
    rules->variables = {{&subtract, {}}};
    for (std::int64_t replica = 0; replica < replicas; ++replica) {
      arenas.push_back(std::make_shared<Arena>(setup->plan, 0, 1));
      updates.emplace_back(setup, 0, arenas.back(), rules, replica);
      updates.back().set_state(updates.back().new_state());
    }
  }

  /// The sum of all replicas' gradients, in the order of their numbers: in f32 that shows.
  static float sum(std::int64_t i) { return (1e8f + static_cast<float>(2 * i)) - 1e8f; }

  void scatter() {
    const auto reduced = std::make_shared<ReducedSums>();
    reduced->replicas = arenas;
    for (std::int64_t i = 0; i < size; ++i) {
      const float of_replica[] = {1e8f, static_cast<float>(2 * i), -1e8f};
      for (std::size_t replica = 0; replica < arenas.size(); ++replica)
        arenas[replica]->accumulator(0, size)[static_cast<std::size_t>(i)] = of_replica[replica];
    }
    for (std::size_t replica = 0; replica < updates.size(); ++replica) {
      updates[replica].set_sums(0, {arenas[replica], reduced});
      updates[replica].run(UpdatePhase::scatter, {});
    }
  }

  /// Replica by replica; of the sums of each, only its own shard is of numbers by then.
  void apply() {
    scatter();
    for (std::int64_t replica = 0; replica < replicas; ++replica) {
      const auto at = static_cast<std::size_t>(replica);
      const graph::Part shard = graph::shard_of(size, replicas, replica);
      const auto sums = arenas[at]->accumulator(0, size);
      for (std::int64_t i = 0; i < size; ++i)
        if (i < shard.begin || i >= shard.end)
          sums[static_cast<std::size_t>(i)] = std::numeric_limits<float>::quiet_NaN();
      updates[at].run(UpdatePhase::apply, {});
    }
  }

  void gather() {
    for (std::int64_t replica = 0; replica < replicas; ++replica)
      for (std::int64_t other = 0; other < replicas; ++other)
        if (other != replica)
          updates[static_cast<std::size_t>(replica)].set_shard(
              other, arenas[static_cast<std::size_t>(other)]);
    for (WeightUpdate& update : updates) update.run(UpdatePhase::gather, {});
  }

  std::shared_ptr<const graph::Plan> plan;
  std::vector<std::shared_ptr<Arena>> arenas;
  std::vector<WeightUpdate> updates;
};

TEST(WeightUpdate, ReadsAndWritesItsShardOnlyUntilTheOthersAreGathered) {
  ShardFixture f;
  f.apply();
  for (std::int64_t replica = 0; replica < ShardFixture::replicas; ++replica) {
    const auto at = static_cast<std::size_t>(replica);
    const graph::Part shard = graph::shard_of(ShardFixture::size, ShardFixture::replicas, replica);
    const auto weights = f.arenas[at]->variable(0);
    for (std::int64_t i = 0; i < ShardFixture::size; ++i)
      EXPECT_EQ(weights[static_cast<std::size_t>(i)],
                i >= shard.begin && i < shard.end ? -ShardFixture::sum(i) - 1 : 0)
          << replica;
    for (const float sum : f.arenas[at]->accumulator(0, ShardFixture::size)) EXPECT_EQ(sum, 0);
    EXPECT_FALSE(f.updates[at].whole()) << "weights of two updates";
    EXPECT_EQ(f.updates[at].updates(), 0);
  }
  f.gather();
  for (std::size_t replica = 0; replica < f.arenas.size(); ++replica) {
    for (std::int64_t i = 0; i < ShardFixture::size; ++i)
      EXPECT_EQ(f.arenas[replica]->variable(0)[static_cast<std::size_t>(i)],
                -ShardFixture::sum(i) - 1);
    EXPECT_TRUE(f.updates[replica].whole());
    EXPECT_EQ(f.updates[replica].updates(), 1);
  }
}

// 7.10: of 7 elements the replicas have 3, 3 and 1.
TEST(WeightUpdate, AddsUpItsShardOfAllReplicasInTheirOrderAndCountsWhatItReads) {
  ShardFixture f;
  f.scatter();
  for (std::int64_t replica = 0; replica < ShardFixture::replicas; ++replica) {
    const auto at = static_cast<std::size_t>(replica);
    const graph::Part shard = graph::shard_of(ShardFixture::size, ShardFixture::replicas, replica);
    const auto sums = f.arenas[at]->accumulator(0, ShardFixture::size);
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
  std::ranges::reverse(states);  // as answers may arrive
  const auto whole = whole_state(*f.plan, states);
  ASSERT_EQ(whole.at(0).size(), 1u);
  EXPECT_EQ(whole[0][0].shape(), Shape{ShardFixture::size});
  for (const float count : whole[0][0].as<float>()) EXPECT_EQ(count, 11);
}

TEST(WeightUpdate, TakesItsShardOutOfWholeState) {
  ShardFixture f;
  std::vector<float> numbers(ShardFixture::size);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const OptimizerTensors whole{
      .updates = 5, .variables = {{Tensor({ShardFixture::size}, std::span<const float>(numbers))}}};
  for (std::int64_t replica = 0; replica < ShardFixture::replicas; ++replica) {
    WeightUpdate& update = f.updates[static_cast<std::size_t>(replica)];
    update.set_state(update.restored_state(whole));
    EXPECT_EQ(update.updates(), 5);
    const auto state = update.read_state();
    EXPECT_EQ(state.at(0).tensors.at(0).as<float>()[0], static_cast<float>(3 * replica));
  }
}

}  // namespace
}  // namespace penstock::actors
