// These tests check what the compiler makes of buffers.
#include <gtest/gtest.h>

#include <vector>

#include "graph/compile/compile.hpp"
#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "tests/graph/compile/networks_to_compile.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/plan_runner.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::PlanRunner;
using testing::random_inputs;
using testing::training;

/// This op maps (x, count [1]) to (x + count, count + 1), and in inference to x alone.
const Op counted{.name = "counted",
                 .infer =
                     [](const Attributes&, Types in) {
                       return std::vector<TensorType>{in[0], in[1]};
                     },
                 .forward =
                     [](const KernelCall& call) {
                       const float count = call.inputs[1].f32()[0];
                       for (std::size_t i = 0; i < call.inputs[0].f32().size(); ++i)
                         call.outputs[0].f32()[i] = call.inputs[0].f32()[i] + count;
                       call.outputs[1].f32()[0] = count + 1;
                     },
                 .backward = [](GradientContext& context) { context.set(0, context.gradient(0)); },
                 .updates = {{1, 1}},
                 .inference = []() -> const Op& { return find_op("identity"); }};

ModelBuilder counting_network() {
  ModelBuilder model;
  const auto x = model.input("x", {2});
  const auto h = model.linear("fc", x, 2);
  const auto y = model.apply(counted, {h, model.buffer("count", {1})}, {}, "counted");
  model.output("y", y);
  model.loss(y);
  return model;
}

// 2.1 of docs/reference.md: statistics change once with each micro-batch.
TEST(Compile, UpdatesABufferInPlaceOncePerMicroBatch) {
  const Plan plan = compile(counting_network().graph(), training()).plan;
  PlanRunner runner(plan);
  runner.set_variable("count", Tensor({1}, {5.0f}));
  const auto batch = random_inputs(plan, 1)[0];
  const auto outputs = runner.run({batch, batch});
  EXPECT_EQ(runner.variable("count").item(), 7);
  EXPECT_FLOAT_EQ(outputs[1][0].as<float>()[0] - outputs[0][0].as<float>()[0], 1);
  EXPECT_TRUE(runner.gradients("count").empty());
  EXPECT_FALSE(plan.variables.back().trainable);
}

TEST(Compile, LeavesBuffersAloneInInference) {
  const Plan plan = compile(counting_network().graph(), {.batch = 3}).plan;
  for (const VariableInfo& variable : plan.variables) EXPECT_NE(variable.name, "count");
  const auto& instructions = plan.stages[0].forward.instructions;
  EXPECT_EQ(instructions.back().op->name, "identity");
  EXPECT_EQ(instructions.back().name, "counted");
}

}  // namespace
}  // namespace penstock::graph
