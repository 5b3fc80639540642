// These tests check weight updates of large parameters, which several threads share in parts, and
// which work in pieces if tensors are off the IPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/update/weight_update.hpp"
#include "graph/values/memory.hpp"
#include "tests/actors/update/counting_runner.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::actors {
namespace {

using Vector = std::vector<float>;

struct Updated {
  Tensor weight;
  std::vector<Tensor> state;
  std::int32_t parts = 0;  ///< Updates were divided into this many parts.
  OffloadReport moves;
  OffloadReport weight_moves;
  std::uint64_t beats = 0;
  std::uint64_t allocations = 0;  ///< This many allocations were made while updates ran.
};

/// Returns one parameter of `size` elements after two updates by `rule`. Its state is on the IPU if
/// `scratch_bytes` is 0, and in the host store otherwise. The parameter itself is in the host store
/// if `weight_on_host` is true.
Updated updated(const char* rule, std::int64_t size, std::int32_t threads,
                std::int64_t scratch_bytes = 0, bool weight_on_host = false) {
  const graph::TensorType type{DType::f32, {size}};
  graph::Plan plan;
  plan.training = true;
  plan.threads_per_ipu = threads;
  plan.variables = {{"weight", type, true, 0}};
  plan.stages = {{.variables = {{.variable = 0,
                                 .type = type,
                                 .home = {weight_on_host ? graph::Space::weight_room
                                                         : graph::Space::parameters},
                                 .trainable = true,
                                 .gradients = {{.stage = 0}}}},
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
  graph::Heartbeat heartbeat;
  const auto scratch = allocate_block(static_cast<std::size_t>(scratch_bytes));
  std::uint64_t allocations = 0;
  for (int step = 0; step < 2; ++step) {
    std::iota(arena->accumulator(first_sum, size).begin(),
              arena->accumulator(first_sum, size).end(), 7.0f);
    const std::uint64_t before = testing::heap_allocations();
    for (const UpdateRound round : {UpdateRound::measure, UpdateRound::apply})
      update.run({round}, {scratch.get(), static_cast<std::size_t>(scratch_bytes)}, &runner,
                 &heartbeat);
    allocations += testing::heap_allocations() - before;
  }
  return {arena->read_variable(0),
          update.read_state().at(0).tensors,
          runner.count,
          update.state_moves(),
          arena->weight_moves(),
          heartbeat.beats(),
          allocations};
}

TEST(WeightUpdate, SharesLargeParametersWithoutChangingABit) {
  constexpr std::int64_t large = 100'003;
  for (const char* rule : {"sgd", "adamw", "lamb"}) {
    const Updated alone = updated(rule, large, 1);
    EXPECT_EQ(alone.parts, 0);
    const Updated shared = updated(rule, large, 3);
    EXPECT_EQ(shared.parts, std::string(rule) == "lamb" ? 0 : 3 * 2) << rule;
    EXPECT_TRUE(testing::same_bits(alone.weight, shared.weight)) << rule;
  }
  EXPECT_EQ(updated("sgd", 1000, 3).parts, 0) << "not worth the while";
}

TEST(WeightUpdate, WorksOnVeryLargeParametersInPiecesThatBeat) {
  constexpr std::int64_t very_large = (1 << 22) + 5;
  const Updated whole = updated("adamw", 1000, 1), pieces = updated("adamw", very_large, 1);
  EXPECT_GE(whole.beats, 2u) << "two updates";
  EXPECT_GE(pieces.beats, whole.beats + 2) << "a piece more each";
  const Updated moved = updated("adamw", very_large, 2, 1 << 20);
  EXPECT_TRUE(testing::same_bits(pieces.weight, moved.weight));
  EXPECT_GE(moved.beats, moved.moves.loads + moved.moves.stores) << "with each copy";
}

/// Returns the parameter of `updated()` after two direct calls of `rule` for all of its elements.
Vector updated_at_once(const graph::OptimizerRule& rule, std::int64_t size) {
  const graph::Hyper hyper{.weight_decay = 0.01};
  const auto elements = static_cast<std::size_t>(size);
  Vector weight(elements), sum(elements);
  std::iota(weight.begin(), weight.end(), -100.0f);
  std::vector<Vector> state;
  for (const graph::StateTensor& tensor : rule.state(hyper))
    state.emplace_back(elements, tensor.initial);
  const std::vector<std::span<float>> spans(state.begin(), state.end());
  for (int step = 1; step <= 2; ++step) {
    std::iota(sum.begin(), sum.end(), 7.0f);
    rule.update(hyper, step, weight, {.sum = sum.data()}, spans);
  }
  return weight;
}

// Each update beats for every block when it measures norms, and again when it applies the rule. The
// weights have the bits that the rule computes if it gets all elements at once.
TEST(WeightUpdate, ByARuleWithNormsBeatsWithEachBlockAndChangesNoBit) {
  const graph::OptimizerRule& lamb = graph::find_optimizer_rule("lamb");
  for (const std::int64_t blocks : {1, 2, 13})
    for (const std::int64_t more : {-1, 0, 1}) {
      const std::int64_t size = blocks * graph::norm_block + more;
      const auto all_blocks = static_cast<std::uint64_t>(blocks + (more > 0));
      const Updated here = updated("lamb", size, 1), moved = updated("lamb", size, 1, 1 << 20);
      EXPECT_GE(here.beats, 2 * (2 * all_blocks + 1)) << "measured, then updated: " << size;
      const Vector expected = updated_at_once(lamb, size);
      EXPECT_TRUE(std::ranges::equal(here.weight.as<float>(), expected)) << size;
      EXPECT_TRUE(testing::same_bits(moved.weight, here.weight)) << size;
    }
}

// An update that has begun must end, so that it must not need memory that may be missing.
TEST(WeightUpdate, AllocatesNothing) {
  for (const char* rule : {"sgd", "adamw", "rmsprop", "lamb"})
    for (const std::int32_t threads : {1, 3})
      for (const std::int64_t scratch : {0, 1 << 20})
        for (const bool weight_on_host : {false, true}) {
          if (weight_on_host && scratch == 0) continue;
          EXPECT_EQ(updated(rule, 50'001, threads, scratch, weight_on_host).allocations, 0u)
              << rule << ", " << threads << " threads, " << scratch << " bytes of scratch";
        }
}

// 4.3: loads and stores of the state are counted, and change no bit.
TEST(WeightUpdate, WorksOnOffloadedStateInPiecesThatFitIntoScratch) {
  struct Row {
    const char* rule;
    std::int64_t size;
    std::int64_t scratch;
    std::int32_t threads;
    std::uint64_t pieces;  ///< Each state tensor has this many pieces in each update.
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
    EXPECT_TRUE(testing::same_bits(kept.weight, moved.weight)) << what;
    ASSERT_EQ(moved.state.size(), 2u);
    for (std::size_t s = 0; s < 2; ++s)
      EXPECT_TRUE(testing::same_bits(kept.state[s], moved.state[s])) << what;
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

// 4.3: a piece of the weight and pieces of its state tensors are in scratch together, and are as
// large as the room allows.
TEST(WeightUpdate, WorksOnOffloadedWeightsInPiecesThatFitIntoScratch) {
  struct Row {
    const char* rule;
    std::int64_t scratch;
    std::int32_t threads;
    std::uint64_t pieces;  ///< The weight has this many pieces in each update.
  };
  constexpr std::int64_t size = 100'003;
  const Row rows[] = {{"sgd", 4096, 1, 98},
                      {"adamw", 3 * 4096, 1, 98},
                      {"adamw", 3 * 400'064, 3, 1},
                      {"lamb", 3 * 400'064, 1, 1}};
  for (const Row& row : rows) {
    const Updated kept = updated(row.rule, size, row.threads);
    const Updated moved = updated(row.rule, size, row.threads, row.scratch, true);
    EXPECT_TRUE(testing::same_bits(kept.weight, moved.weight)) << row.rule;
    EXPECT_EQ(moved.weight_moves.bytes, 4 * size) << row.rule;
    EXPECT_EQ(moved.weight_moves.loads, 2 * row.pieces) << row.rule;
    EXPECT_EQ(moved.weight_moves.stores, 2 * row.pieces) << row.rule;
    EXPECT_EQ(moved.weight_moves.loaded_bytes, 2 * 4 * size) << row.rule;
    EXPECT_EQ(moved.weight_moves.stored_bytes, 2 * 4 * size) << row.rule;
    EXPECT_EQ(kept.weight_moves.loads, 0u) << row.rule;
  }
}

}  // namespace
}  // namespace penstock::actors
