#include "graph/compile/model_inputs.hpp"

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
  builder.apply("l1_loss", {y, target}, {}, "l");  // Now neither of the two losses is the last one.
  EXPECT_EQ(step_inputs(builder.graph()), Names{"z"});
}

using Flags = std::vector<bool>;

std::vector<std::string> names_of(const Targets& targets) {
  std::vector<std::string> names;
  for (const Targets::Input& input : targets.inputs) names.push_back(input.name);
  return names;
}

TEST(Targets, AreTheInputsThatOnlyOutputsMadeOfLossesNeed) {
  ModelBuilder builder;
  const ValueId target = builder.input("target", {3}), x = builder.input("x", {3});
  const ValueId shared = builder.input("shared", {3});
  const ValueId y = builder.linear("fc", builder.apply("add", {x, shared}), 3);
  const ValueId to_shared = builder.apply("mse_loss", {y, shared}, {}, "m");
  const ValueId to_target = builder.apply("mse_loss", {y, target}, {}, "n");
  builder.output("to_target", to_target);
  builder.output("y", y);
  builder.output("to_shared", to_shared);
  builder.output("rows", builder.apply("add", {y, to_target}));
  const Targets targets = targets_of(builder.graph());
  EXPECT_EQ(names_of(targets), std::vector<std::string>{"target"});
  EXPECT_EQ(targets.inputs[0].type, builder.graph().type(target));
  EXPECT_EQ(targets.has_rows, (Flags{false, true, false, true}));
  EXPECT_EQ(targets.needs_any, (Flags{true, false, false, true}));
}

TEST(Targets, AreNoneWhereLossesAreAllThatIsPredicted) {
  ModelBuilder builder;
  const ValueId target = builder.input("target", {3}), x = builder.input("x", {3});
  builder.output("loss", builder.apply("mse_loss", {x, target}, {}, "m"));
  const Targets targets = targets_of(builder.graph());
  EXPECT_TRUE(targets.inputs.empty());
  EXPECT_EQ(targets.has_rows, Flags{true});
  EXPECT_EQ(targets.needs_any, Flags{false});
}

}  // namespace
}  // namespace penstock::graph
