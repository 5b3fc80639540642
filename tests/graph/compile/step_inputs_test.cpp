#include "graph/compile/step_inputs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/model_builder.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using Names = std::vector<std::string>;

TEST(StepInputs, AreThoseOfTheLossAndTheOutputsAsTheyWereDeclared) {
  ModelBuilder builder;
  const ValueId target = builder.input("target", {3});
  builder.input("unused", {3});
  const ValueId x = builder.input("x", {3}), z = builder.input("z", {3});
  builder.output("z", builder.linear("gc", z, 3));
  EXPECT_EQ(step_inputs(builder.graph()), Names{"z"});
  const ValueId y = builder.linear("fc", x, 3);
  builder.apply("mse_loss", {y, target}, {}, "m");
  EXPECT_EQ(step_inputs(builder.graph()), (Names{"target", "x", "z"}));
  builder.apply("l1_loss", {y, target}, {}, "l");  // Neither of the two is the last one.
  EXPECT_EQ(step_inputs(builder.graph()), Names{"z"});
}

}  // namespace
}  // namespace penstock::graph
