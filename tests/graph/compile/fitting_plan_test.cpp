// These tests check the search for a plan that fits, by the texts with which compilations are
// refused.
#include "graph/compile/fitting_plan.hpp"

#include <gtest/gtest.h>

#include <string>

#include "graph/compile/compile.hpp"
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

}  // namespace
}  // namespace penstock::graph
