#include "graph/compile/compile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph/ir/op.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "tests/graph/compile/networks_to_compile.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/plan_runner.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::convolutional_network;
using testing::finite;
using testing::Inputs;
using testing::ModelBuilder;
using testing::PlanRunner;
using testing::random_inputs;
using testing::same_bits;
using testing::small_network;
using testing::training;

TEST(Compile, PutsTheLossLastAmongTheOutputs) {
  const Plan plan = compile(small_network().graph(), training()).plan;
  ASSERT_EQ(plan.outputs.size(), 2u);
  EXPECT_EQ(plan.outputs[0].name, "y");
  EXPECT_EQ(plan.outputs[1].type.shape, Shape{});
  EXPECT_EQ(plan.loss, 1);
}

// F2 of docs/reference.md: the loss and its labels are in no stage of inference.
TEST(Compile, LeavesOutOfInferenceWhatOnlyTheLossNeeds) {
  const auto compiled = compile(small_network().graph(), {.batch = 2, .gradient_accumulation = 2});
  const Plan& plan = compiled.plan;
  ASSERT_EQ(plan.inputs.size(), 1u);
  EXPECT_EQ(plan.inputs[0].name, "x");
  EXPECT_EQ(plan.outputs.size(), 1u);
  EXPECT_FALSE(plan.loss.has_value());
  ASSERT_EQ(plan.stages.size(), 2u);
  for (const StagePlan& stage : plan.stages) {
    EXPECT_TRUE(stage.backward.instructions.empty());
    EXPECT_EQ(stage.accumulator_bytes, 0);
  }
  EXPECT_EQ(compiled.notes.size(), 1u) << "block C has nothing to do";
}

TEST(Compile, ComputesInInferenceWhatItComputesInTraining) {
  const Plan trained = compile(small_network().graph(), training()).plan;
  const Plan served = compile(small_network().graph(), {.batch = 3}).plan;
  const Inputs inputs = random_inputs(trained, 1);
  const Tensor y = PlanRunner(trained).run(inputs)[0][0];
  EXPECT_TRUE(same_bits(PlanRunner(served).run({{inputs[0][0]}})[0][0], y));
}

const Instruction& named(const Program& program, const std::string& name) {
  return *std::ranges::find(program.instructions, name, &Instruction::name);
}

TEST(Compile, DrawsTheSameNumbersForwardAndBackward) {
  const Plan plan = compile(small_network().graph(), training()).plan;
  const StagePlan& a = plan.stages[0];
  EXPECT_EQ(named(a.forward, "fc1").name_hash, hash_name("fc1"));
  EXPECT_EQ(named(a.backward, "fc1/relu_gradient").name_hash, hash_name("fc1"));
}

TEST(Compile, GivesAStageTheSlotsThatItsScheduleAllows) {
  CompileRequest request = training();
  request.schedule = &interleaved;
  const Plan plan = compile(small_network().graph(), request).plan;
  for (std::size_t stage = 0; stage < 3; ++stage) {
    const StagePlan& s = plan.stages[stage];
    EXPECT_EQ(s.in_flight, 3 - static_cast<int>(stage));
    EXPECT_EQ(s.output_slots, stage == 0 ? 0 : s.in_flight + 2) << "B has an output, C the loss";
  }
}

TEST(Compile, AddsUpTheBytesOfAStage) {
  const Plan plan = compile(small_network().graph(), training()).plan;
  // B has the weight 4x4 and the bias 4, each with one sum. B gives y [3,4] to the host and to C. B
  // sends one gradient [3,4] back to A, and has room for it for each of the five micro-batches that
  // A may hold.
  const StagePlan& b = plan.stages[1];
  EXPECT_EQ(b.parameter_bytes, 64 + 64);
  EXPECT_EQ(b.accumulator_bytes, 64 + 64);
  EXPECT_EQ(b.stash_bytes, 0);
  EXPECT_EQ(b.output_bytes, 64);
  EXPECT_EQ(stage_bytes(plan, 1), 256 + b.output_slots * 64 + b.scratch_bytes + 5 * 64);
  // A stashes what its tanh computes for each of the micro-batches that it may hold.
  const StagePlan& a = plan.stages[0];
  EXPECT_EQ(a.output_bytes, 0);
  EXPECT_EQ(stage_bytes(plan, 0), a.parameter_bytes + a.accumulator_bytes +
                                      a.in_flight * a.stash_bytes + a.scratch_bytes);
}

TEST(Compile, WarnsOfParametersThatTheLossDoesNotSee) {
  ModelBuilder model;
  const auto x = model.input("x", {2});
  model.output("aside", model.linear("aside", x, 2));
  model.loss(model.linear("fc", x, 2));
  model.parameter("idle", {3});
  const auto compiled = compile(model.graph(), training());
  EXPECT_EQ(
      compiled.notes,
      (std::vector<Note>{
          {.text = "parameter \"aside.weight\" does not influence the loss and is not trained"},
          {.text = "parameter \"aside.bias\" does not influence the loss and is not trained"},
          {.text = "parameter \"idle\" does not influence the loss and is not trained"}}));
  ASSERT_EQ(compiled.plan.variables.size(), 4u);
  EXPECT_FALSE(compiled.plan.variables[0].trainable);
  EXPECT_TRUE(compiled.plan.stages[0].variables[0].gradients.empty());
  EXPECT_TRUE(compiled.plan.variables[2].trainable);
}

/// This op copies its input, and fills its workspace with bytes that would spoil any tensor there.
const Op scribbling{
    .name = "scribbling",
    .infer = [](const Attributes&, Types in) { return std::vector<TensorType>{in[0]}; },
    .forward =
        [](const KernelCall& call) {
          std::ranges::fill(call.workspace, std::byte{0xff});
          std::ranges::copy(call.inputs[0].f32(), call.outputs[0].f32().begin());
        },
    .workspace = [](const Attributes&, Types, Types) { return std::int64_t{100}; }};

TEST(Compile, KeepsWorkspacesAwayFromTensors) {
  ModelBuilder model;
  const auto h = model.linear("fc1", model.input("x", {20}), 40);
  model.output("y", model.linear("fc2", model.apply("add", {h, model.apply(scribbling, {h})}), 4));
  const Plan plan = compile(model.graph(), {.batch = 3}).plan;
  EXPECT_TRUE(finite(PlanRunner(plan).run(random_inputs(plan, 1))[0][0]));
  EXPECT_GE(plan.stages[0].scratch_bytes, 100 + 2 * 480) << "a workspace and two tensors";
}

TEST(Compile, ReportsTheLanesThatPaddingWastes) {
  CompileRequest request = training();
  const auto report = [&](std::int64_t batch) {
    request.batch = batch;
    return compile(convolutional_network().graph(), request).report;
  };
  EXPECT_EQ(report(40).lanes, 48);
  EXPECT_EQ(report(40).wasted_lanes, 8);
  EXPECT_EQ(report(32).lanes, 32);
  EXPECT_EQ(report(32).wasted_lanes, 0);
  EXPECT_EQ(report(3).lanes, 0) << "no layer works in lanes";
  EXPECT_EQ(report(3).wasted_lanes, 0);
}

}  // namespace
}  // namespace penstock::graph
