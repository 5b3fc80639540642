// These tests check the search for a plan that fits, by the texts with which compilations are
// refused.
#include "graph/compile/fitting_plan.hpp"

#include <gtest/gtest.h>

#include <string>

#include "graph/compile/compile.hpp"
#include "graph/plan/dump.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;

/// Returns a model with a wide layer in block A, and a narrow one and the loss in block B.
ModelBuilder two_layers() {
  ModelBuilder model;
  const auto x = model.input("x", {64}), target = model.input("target", {4});
  const auto hidden = model.block("A").apply("tanh", {model.linear("a", x, 64)});
  const auto y = model.block("B").linear("b", hidden, 4);
  model.loss(model.apply("mse_loss", {y, target}, {}, "mse"));
  return model;
}

CompileRequest request_within(std::int64_t bytes) {
  return {.training = true,
          .batch = 8,
          .gradient_accumulation = 16,
          .replicas = 2,
          .threads_per_ipu = 0,
          .memory = {.bytes = bytes,
                     .state =
                         [](const std::string&) {
                           return KeptState{2, true};
                         },
                     .shard_state = {.minimum_elements = 1},
                     .replicas = 2}};
}

std::string refused_within(std::int64_t bytes) {
  return refusal(Errc::out_of_memory,
                 [&] { compile(two_layers().graph(), request_within(bytes)); });
}

/// Returns the part of the refusal that says what would help.
std::string remedies_within(std::int64_t bytes) {
  const std::string text = refused_within(bytes), what = "what would help: ";
  EXPECT_EQ(text.find("stage 0 on IPU 0 needs 95.2 kB (33.3 kB for weights and gradients, 33.3 kB "
                      "for the optimizer's state, 6.1 kB for micro-batches in flight, 22.5 kB for "
                      "scratch), an IPU has "),
            0U)
      << text;
  return text.substr(text.find(what) + what.size());
}

// The refusal names single classes in the host store first, then shards, schedules and smaller
// micro-batches.
TEST(FittingPlan, IsAdvisedOfInOneOrder) {
  EXPECT_EQ(
      remedies_within(94'000),
      "the optimizer's state in the host store, which needs 62.0 kB on the fullest IPU; or the "
      "gradient sums in the host store, which needs 89.1 kB on the fullest IPU; or the activations "
      "in the host store, which needs 89.1 kB on the fullest IPU; or the optimizer's state divided "
      "among the replicas, which needs 78.6 kB on the fullest IPU; or the schedule interleaved, "
      "which needs 93.2 kB on the fullest IPU; or the schedule sequential, which needs 91.1 kB on "
      "the fullest IPU; or micro-batches of 6 samples instead of 8, which needs 93.2 kB on the "
      "fullest IPU; or smaller stages");
}

// No single class in the host store is enough, but some pairs are. Therefore the refusal offers no
// three classes.
TEST(FittingPlan, KeepsNoMoreClassesInTheHostStoreThanAreEnough) {
  EXPECT_EQ(
      remedies_within(60'000),
      "the optimizer's state and the gradient sums in the host store, which needs 55.8 kB on "
      "the fullest IPU; or the optimizer's state and the activations in the host store, which "
      "needs 55.8 kB on the fullest IPU; or smaller stages");
}

/// Returns a model with two convolutions whose weights can be packed beforehand.
ModelBuilder convolutions() {
  ModelBuilder model;
  const Attributes same_size{{"padding", 1}};
  auto x = model.input("x", {32, 8, 8});
  x = model.apply("conv2d", {x, model.parameter("v", {32, 32, 3, 3})}, same_size);
  x = model.apply("conv2d", {x, model.parameter("w", {32, 32, 3, 3})}, same_size);
  model.output("y", x);
  return model;
}

Plan convolutions_within(std::int64_t bytes, bool prepared = true) {
  return compile(convolutions().graph(),
                 {.batch = 4, .memory = {.bytes = bytes}, .prepare = prepared})
      .plan;
}

// Whatever fits without prepared weights is not refused because of them.
TEST(FittingPlan, PreparesWeightsOnlyWhereThereIsMemoryForThem) {
  const Plan whole = convolutions_within(0), frugal = convolutions_within(0, false);
  const std::int64_t most = stage_bytes(whole, 0), least = stage_bytes(frugal, 0);
  EXPECT_GT(whole.stages[0].prepared_bytes, 0);
  ASSERT_LT(least, most);
  EXPECT_EQ(dump(convolutions_within(most)), dump(whole));
  EXPECT_EQ(dump(convolutions_within(most - 1)), dump(frugal));
  EXPECT_EQ(dump(convolutions_within(least)), dump(frugal));
  EXPECT_NE(refusal(Errc::out_of_memory, [&] { convolutions_within(least - 1); }), "accepted");
}

}  // namespace
}  // namespace penstock::graph
