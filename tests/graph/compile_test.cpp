#include "graph/compile.hpp"

#include <gtest/gtest.h>

#include "graph/op.hpp"
#include "penstock/error.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/plan_runner.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::PlanRunner;
using testing::same_bits;
using testing::uniform;

/// B1: linear and relu; B2: linear; B3: the mean squared error.
ModelBuilder small_network() {
  ModelBuilder model;
  const auto x = model.input("x", {5}), target = model.input("target", {2});
  model.block("B1");
  const auto hidden = model.apply("relu", {model.linear("fc1", x, 4)});
  model.block("B2");
  const auto y = model.linear("fc2", hidden, 2);
  model.output("y", y);
  model.block("B3");
  model.loss(model.apply("mse_loss", {y, target}));
  return model;
}

TEST(Compile, MakesAPlanThatTrains) {
  const auto compiled = compile(small_network().graph(), {.training = true, .batch = 3});
  PlanRunner runner(compiled.plan);
  const auto outputs = runner.run({{uniform({3, 5}, 1), uniform({3, 2}, 2)}});
  EXPECT_GT(outputs[0][1].item(), 0);
}

}  // namespace
}  // namespace penstock::graph
