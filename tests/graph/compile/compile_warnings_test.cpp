// These tests check what the compiler warns of.

#include <gtest/gtest.h>

#include "graph/compile/compile.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using Notes = std::vector<Note>;

/// Returns a model with `layers` layers of batch norm, called "norm1", "norm2", ..., a shift and a
/// loss.
ModelBuilder normalised(int layers) {
  ModelBuilder model;
  ValueId x = model.input("x", {3, 2, 2});
  for (int layer = 1; layer <= layers; ++layer) {
    const std::string name = "norm" + std::to_string(layer);
    x = model.apply(
        "batch_norm",
        {x, model.parameter(name + ".weight", {3}), model.parameter(name + ".bias", {3}),
         model.buffer(name + ".running_mean", {3}), model.buffer(name + ".running_var", {3})},
        {}, name);
  }
  const ValueId y = model.apply("add", {x, model.parameter("shift", {2})});
  model.output("y", y);
  model.loss(y);
  return model;
}

Notes warnings(const ModelBuilder& model, bool training, std::int64_t replicas) {
  return compile(model.graph(), {.training = training, .batch = 2, .replicas = replicas}).notes;
}

TEST(CompileWarnings, TellWhoseStatisticsReplicasKeep) {
  const std::string what =
      ": each of 2 replicas normalises by its own micro-batches and keeps running statistics of "
      "its own; replica 0's are read back";
  EXPECT_EQ(warnings(normalised(1), true, 2), (Notes{{.text = "batch norm \"norm1\"" + what}}));
  EXPECT_EQ(warnings(normalised(3), true, 2),
            (Notes{{.text = "batch norm \"norm1\" and 2 more" + what}}));
  EXPECT_EQ(warnings(normalised(1), true, 1), Notes{});
  EXPECT_EQ(warnings(normalised(0), true, 2), Notes{});
  EXPECT_EQ(warnings(normalised(1), false, 2), Notes{}) << "inference changes no statistics";
}

TEST(CompileWarnings, TellThatReplicasDivideNothingInVain) {
  constexpr std::int64_t elements = 2;  // This is the number of elements of the largest parameter.
  struct Row {
    std::int64_t replicas, minimum_elements;
    std::int32_t kept;
    Notes expected;
  };
  const Row table[] = {
      {1,
       2,
       1,
       {{Option::shard_optimizer_state,
         "there are no replicas to share with, and nothing is divided"}}},
      {2, elements, 1, {}},
      {2,
       elements + 1,
       1,
       {{Option::least_sharded_optimizer_state,
         "nothing is divided: no tensor has 3 elements, the largest has 2"}}},
      {2,
       2,
       0,
       {{Option::shard_optimizer_state, "the optimizer keeps no state, and nothing is divided"}}},
  };
  for (const Row& row : table) {
    const auto told = [&](bool training, bool on) {
      MemoryBudget budget{
          .state = [&](const std::string&) { return KeptState{.tensors = row.kept}; },
          .shard_state = {.on = on, .minimum_elements = row.minimum_elements},
          .replicas = row.replicas};
      return compile(normalised(0).graph(), {.training = training,
                                             .batch = 2,
                                             .replicas = row.replicas,
                                             .memory = std::move(budget)})
          .notes;
    };
    EXPECT_EQ(told(true, true), row.expected);
    EXPECT_EQ(told(true, false), Notes{});
    EXPECT_EQ(told(false, true), Notes{});
  }
}

constexpr Offload on{.on = true};

Notes notes(const OffloadOptions& offload, bool training = true, std::int32_t kept = 1,
            std::optional<PhaseRequest> phased = {}) {
  ModelBuilder model;
  const ValueId x = model.apply("tanh", {model.linear("fc", model.input("x", {6}), 6)}, {}, "y");
  model.output("y", x);
  model.loss(model.apply("mse_loss", {x, model.input("target", {6})}, {}, "loss"));
  CompileRequest request{
      .training = training, .batch = 3, .phased = std::move(phased), .offload = offload};
  if (request.phased) request.schedule = &find_schedule("sequential");
  request.memory.offload_state = offload.optimizer_state;
  request.memory.state = [=](const std::string&) { return KeptState{.tensors = kept}; };
  return compile(model.graph(), request).notes;
}

TEST(IdleOffload, IsNotedWhereEveryTensorIsTooSmall) {
  const Offload weight{.on = true, .minimum_bytes = 6 * 6 * 4};
  const Offload more{.on = true, .minimum_bytes = weight.minimum_bytes + 1};
  EXPECT_EQ(notes({.optimizer_state = weight, .accumulators = weight, .weights = weight}), Notes{});
  const auto note = [](Option about, int bytes, int largest) {
    return Note{about, "nothing is kept in the host store: no tensor has " + std::to_string(bytes) +
                           " bytes, the largest has " + std::to_string(largest)};
  };
  EXPECT_EQ(notes({more, more, more, more}),
            (Notes{note(Option::least_offloaded_optimizer_state, 145, 144),
                   note(Option::least_offloaded_accumulators, 145, 144),
                   note(Option::least_offloaded_activations, 145, 72),
                   note(Option::least_offloaded_weights, 145, 144)}));
  EXPECT_EQ(notes({.activations = {.on = true, .minimum_bytes = 72}}), Notes{});
  EXPECT_EQ(notes({more, more, more, more}, false),
            Notes{note(Option::least_offloaded_weights, 145, 144)});
}

TEST(IdleOffload, IsNotedWhereTheOptimizerKeepsNoState) {
  const OffloadOptions state{.optimizer_state = on};
  EXPECT_EQ(notes(state, true, 0),
            (Notes{{Option::offload_optimizer_state,
                    "the optimizer keeps no state, and nothing is kept in the host store"}}));
  EXPECT_EQ(notes(state, true, 1), Notes{});
  EXPECT_EQ(notes(state, false, 0), Notes{});
  EXPECT_EQ(notes(state, true, 0, PhaseRequest{}), Notes{}) << "phases turn it on";
}

TEST(CompileStalls, AreRefusedBeforeAnythingRuns) {
  const Schedule no_credit{
      .name = "no_credit", .in_flight = [](int, int) { return 0; }, .prefers = Direction::forward};
  const ModelBuilder model = normalised(1);
  EXPECT_EQ(
      testing::refusal(
          Errc::internal,
          [&] { compile(model.graph(), {.training = true, .batch = 2, .schedule = &no_credit}); }),
      "the schedule \"no_credit\" stalls a pipeline of 1: stage 0: forward of micro-batch 0 waits "
      "for a credit");
}

}  // namespace
}  // namespace penstock::graph
