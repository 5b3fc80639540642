#include "actors/execution/arena.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <set>
#include <thread>

#include "graph/compile/compile.hpp"
#include "graph/values/memory.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using graph::EdgeKind;
using graph::Space;
using testing::refusal;

const graph::TensorType type{DType::f32, {16}};  // A tensor of this type has 64 bytes.
constexpr std::int64_t live = 7;

/// Returns a plan of two stages. Stage 1 gets an activation, sends a gradient back, and has two
/// outputs in its stash.
std::shared_ptr<const graph::Plan> two_stages() {
  graph::Plan plan;
  plan.edges = {{.kind = EdgeKind::activation, .from = 0, .to = 1, .name = "a", .type = type},
                {.kind = EdgeKind::gradient, .from = 1, .to = 0, .name = "da", .type = type},
                {.kind = EdgeKind::order, .from = 1, .to = 0},
                {.kind = EdgeKind::activation,
                 .from = 1,
                 .to = 1,
                 .name = "b",
                 .type = type,
                 .source = {Space::outputs, 0, 64}}};
  plan.outputs = {{"out", type}, {"other", type}};
  plan.variables = {{"fc.weight", type, true, 1}, {"mean", type, false, 1}};
  plan.stages.resize(2);
  plan.stages[0].in_flight = 3;
  graph::StagePlan& stage = plan.stages[1];
  stage.forward_receives = {0};
  stage.forward_sends = {3};
  stage.backward_sends = {1, 2};
  stage.outputs = {{0, {Space::outputs, 0, 0}}, {1, {Space::outputs, 0, 64}}};
  stage.variables = {{.variable = 0,
                      .type = type,
                      .home = {Space::parameters, 0, 64},
                      .trainable = true,
                      .gradients = {{.stage = 0}}},
                     {.variable = 1, .type = type, .home = {Space::buffers, 0, 0}}};
  stage.parameter_bytes = 128;
  stage.buffer_bytes = 64;
  stage.prepared_bytes = 64;
  stage.accumulator_bytes = 64;
  stage.stash_bytes = 64;
  stage.output_bytes = 128;
  stage.output_slots = 2;
  return std::make_shared<const graph::Plan>(std::move(plan));
}

TEST(Arena, GivesEachMicroBatchOfARingItsOwnMemoryAndUsesItAgain) {
  const Arena arena(two_stages(), 1, live);
  std::set<const std::byte*> places;
  for (std::int64_t m = 0; m < 2; ++m)
    for (std::size_t i = 0; i < arena.outputs(m).size(); ++i)
      places.insert(arena.outputs(m)[i].raw());
  EXPECT_EQ(places.size(), 4u);
  for (std::int64_t m = 0; m < 4; ++m) {
    EXPECT_EQ(arena.outputs(m)[0].raw(), arena.outputs(m + 2)[0].raw());
    EXPECT_EQ(arena.sends_forward(0, m).raw(), arena.outputs(m)[1].raw());
  }
}

TEST(Arena, SendsGradientsBackInAsManyBuffersAsTheReceiverHoldsMicroBatches) {
  const Arena arena(two_stages(), 1, live);
  std::set<const std::byte*> places;
  for (std::int64_t m = 0; m < 9; ++m) places.insert(arena.sends_back(0, m).raw());
  EXPECT_EQ(places.size(), 3u);
  EXPECT_EQ(arena.sends_back(0, 1).raw(), arena.sends_back(0, 4).raw());
  EXPECT_FALSE(arena.sends_back(1, 0)) << "an order edge carries nothing";
}

TEST(Arena, CountsTheMemoryThatThePlanAnnounces) {
  const auto whole = two_stages();
  EXPECT_EQ(Arena(whole, 1, live).bytes(), graph::stage_bytes(*whole, 1));
}

TEST(Arena, HoldsOnToWhatItReceivedUntilTheMicroBatchIsReleased) {
  Arena arena(two_stages(), 1, live);
  Tensor third = Tensor::zeros(DType::f32, {16}), fourth = Tensor::zeros(DType::f32, {16});
  const std::weak_ptr<const std::byte> of_third = third.storage(), of_fourth = fourth.storage();
  arena.receive(0, 3, std::move(third));
  arena.receive(0, 4, std::move(fourth));
  arena.release(3);
  EXPECT_TRUE(of_third.expired());
  EXPECT_FALSE(of_fourth.expired());
}

TEST(Arena, ReadsAVariableAsACopy) {
  Arena arena(two_stages(), 1, live);
  const std::vector<float> ones(16, 1.0f), twos(16, 2.0f);
  arena.write_variable(0, Tensor({16}, std::span(ones)));
  const Tensor before = arena.read_variable(0);
  arena.write_variable(0, Tensor({16}, std::span(twos)));
  EXPECT_EQ(before.as<float>()[15], 1);
  EXPECT_EQ(arena.read_variable(0).as<float>()[15], 2);
  EXPECT_EQ(arena.variable(0)[15], 2);
}

TEST(Arena, SharesTheParametersOfAnotherReplicaAndHasBuffersOfItsOwn) {
  Arena first(two_stages(), 1, live);
  Arena second(two_stages(), 1, live, &first);
  const std::vector<float> ones(16, 1.0f), twos(16, 2.0f);
  for (const std::size_t variable : {0, 1}) {
    first.write_variable(variable, Tensor({16}, std::span(ones)));
    second.write_variable(variable, Tensor({16}, std::span(twos)));
  }
  EXPECT_EQ(second.read_variable(0).as<float>()[15], 1) << "the first replica writes parameters";
  EXPECT_EQ(first.read_variable(1).as<float>()[15], 1) << "the buffer";
  EXPECT_EQ(second.read_variable(1).as<float>()[15], 2);
  EXPECT_EQ(second.bytes(), first.bytes()) << "each IPU has its limit for all of them";
}

TEST(Arena, SharesTheWeightsThatTheHostStoreKeeps) {
  graph::Plan plan = *two_stages();
  graph::StagePlan& stage = plan.stages[1];
  stage.variables[0].home = {Space::weight_room, 0, 0};
  stage.parameter_bytes = 0;
  stage.host_parameter_bytes = 64;
  const auto offloaded = std::make_shared<const graph::Plan>(std::move(plan));
  Arena first(offloaded, 1, live);
  Arena second(offloaded, 1, live, &first);
  first.variable(0)[15] = 3;
  EXPECT_EQ(second.variable(0)[15], 3);
  // Each replica fetches and returns the weights by itself.
  const auto lent = first.return_host_weights();
  EXPECT_TRUE(second.has_host_weights());
  EXPECT_EQ(lent, second.return_host_weights());
}

/// Returns a plan for inference whose stage computes x * tanh(w) for a w of `elements` elements,
/// where tanh(w) is prepared.
std::shared_ptr<const graph::Plan> product_with_prepared_weights(std::int64_t elements = 16) {
  testing::ModelBuilder model;
  const auto x = model.input("x", {elements});
  const auto bent = model.apply("tanh", {model.parameter("w", {elements})}, {}, "bent");
  model.output("y", model.apply("mul", {x, bent}, {}, "y"));
  return std::make_shared<const graph::Plan>(graph::compile(model.graph(), {}).plan);
}

Tensor filled(std::int64_t elements, float value) {
  const std::vector<float> values(static_cast<std::size_t>(elements), value);
  return Tensor({elements}, std::span(values));
}

Tensor sixteen(float value) {
  return filled(16, value);
}

/// Runs the forward of `micro_batch` of product_with_prepared_weights(), for an x of twos. Unless
/// `together` is null, it runs when all threads of the barrier are about to run theirs. Returns how
/// many instructions have run, those that prepare included.
std::uint64_t instructions_run(Arena& arena, std::int64_t micro_batch,
                               std::barrier<>* together = nullptr) {
  const auto scratch = allocate_block(static_cast<std::size_t>(arena.stage().scratch_bytes) + 64);
  graph::Heartbeat heart;
  const std::int64_t elements = arena.stage().variables[0].type.shape.elements();
  arena.receive(0, micro_batch, filled(elements, 2).reshaped({1, elements}));
  if (together) together->arrive_and_wait();
  arena.run({.micro_batch = micro_batch, .scratch = scratch.get(), .heartbeat = &heart});
  arena.release(micro_batch);
  return heart.beats();
}

TEST(Arena, PreparesAnewOnlyWhenWeightsHaveChanged) {
  Arena arena(product_with_prepared_weights(), 0, live);
  const auto result = [&](std::int64_t micro_batch) {
    return arena.outputs(micro_batch)[0].as<float>()[15];
  };
  arena.write_variable(0, sixteen(1));
  EXPECT_EQ(instructions_run(arena, 0), 2U);
  EXPECT_EQ(instructions_run(arena, 1), 1U);
  EXPECT_EQ(result(0), result(1));
  EXPECT_NE(result(1), 0);
  arena.write_variable(0, sixteen(0));
  EXPECT_EQ(instructions_run(arena, 2), 2U);
  EXPECT_EQ(result(2), 0);
}

TEST(Arena, PreparesOnceForAllReplicas) {
  const auto plan = product_with_prepared_weights();
  Arena first(plan, 0, live);
  Arena second(plan, 0, live, &first);
  EXPECT_EQ(second.bytes(), first.bytes()) << "each IPU has its limit for what they share";
  for (const float weight : {1.0f, 0.0f}) {
    for (Arena* const arena : {&first, &second}) arena->write_variable(0, sixteen(weight));
    EXPECT_EQ(instructions_run(second, 0), 2U);
    EXPECT_EQ(instructions_run(first, 0), 1U);
    EXPECT_EQ(first.outputs(0)[0].as<float>()[15], second.outputs(0)[0].as<float>()[15]);
    EXPECT_EQ(first.outputs(0)[0].as<float>()[15] == 0, weight == 0);
  }
}

TEST(Arena, PreparesOnceForReplicasThatRunAtTheSameTime) {
  // The tanh of so many elements takes longer than a thread with a core of its own takes to leave
  // the barrier.
  constexpr std::int64_t elements = 1 << 18;
  const auto plan = product_with_prepared_weights(elements);
  Arena first(plan, 0, live);
  Arena second(plan, 0, live, &first);
  for (int round = 0; round < 20; ++round) {
    const float weight = 0.1f * static_cast<float>(round);
    for (Arena* const arena : {&first, &second}) arena->write_variable(0, filled(elements, weight));
    std::barrier together(2);
    std::uint64_t of_other = 0;
    std::thread other([&] { of_other = instructions_run(second, 0, &together); });
    const std::uint64_t of_first = instructions_run(first, 0, &together);
    other.join();
    EXPECT_EQ(of_first + of_other, 3U);
    for (const Arena* const arena : {&first, &second})
      EXPECT_NEAR(arena->outputs(0)[0].as<float>()[elements - 1], 2 * std::tanh(weight), 1e-6);
  }
}

TEST(Arena, RefusesAVariableOfAnotherShape) {
  Arena arena(two_stages(), 1, live);
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] { arena.write_variable(0, Tensor::zeros(DType::f32, {15})); }),
            "fc.weight: expected f32[16], got [15]");
  EXPECT_NE(refusal(Errc::shape_mismatch,
                    [&] { arena.write_variable(0, Tensor::zeros(DType::i64, {16})); }),
            "accepted");
}

}  // namespace
}  // namespace penstock::actors
