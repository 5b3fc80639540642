#include "graph/passes/results/compile_report.hpp"

#include <gtest/gtest.h>

#include "graph/plan/schedules/schedules.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

/// Returns a plan of balanced stages, each on an IPU of its own. A stage's backward costs twice its
/// forward.
Plan balanced(std::size_t stages, bool training = true, const Schedule& schedule = grouped) {
  Plan plan{.name = "test", .training = training, .schedule = &schedule};
  for (std::size_t i = 0; i < stages; ++i) {
    StagePlan stage{.ipu = static_cast<std::int32_t>(i), .blocks = {"B" + std::to_string(i)}};
    stage.forward.cost = {.flops = 1e6};
    if (training) stage.backward.cost = {.flops = 2e6};
    stage.in_flight = schedule.in_flight(static_cast<int>(i), static_cast<int>(stages));
    plan.stages.push_back(stage);
  }
  return plan;
}

TEST(CompileReport, ExpectsTheUtilizationOfABalancedPipeline) {
  for (const auto m : {4, 10, 40})  // The formula for p stages is m / (m + p - 1).
    EXPECT_NEAR(report_on(balanced(4), {.micro_batches = m}).expected_utilization, m / (m + 3.0),
                0.01)
        << m;
}

TEST(CompileReport, C6_TellsHowManyMicroBatchesFillThePipeline) {
  for (const int stages : {1, 2, 4, 8}) {
    const auto ramp = [&](bool training, const Schedule& schedule) {
      const Plan plan = balanced(static_cast<std::size_t>(stages), training, schedule);
      const int in_a_long_window = report_on(plan, {.micro_batches = 40}).ramp;
      EXPECT_EQ(report_on(plan, {.micro_batches = 1}).ramp, in_a_long_window);
      return in_a_long_window;
    };
    EXPECT_EQ(ramp(true, grouped), 2 * stages - 1);
    EXPECT_EQ(ramp(true, interleaved), stages);
    EXPECT_EQ(ramp(true, sequential), 1);
    EXPECT_EQ(ramp(false, grouped), stages);
  }
  // The ramp of many stages is known at once. A simulation of a long window would take minutes.
  EXPECT_EQ(report_on(balanced(1000), {.micro_batches = 1}).ramp, 1999);
}

TEST(CompileReport, ExpectsOneBusyIpuOfASequentialPipeline) {
  EXPECT_NEAR(report_on(balanced(4, true, sequential), {.micro_batches = 8}).expected_utilization,
              0.25, 1e-9);
}

TEST(CompileReport, WarnsWhereTooFewMicroBatchesFillThePipeline) {
  const auto report = report_on(balanced(4), {.micro_batches = 4});
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0],
            "windows of 4 (gradient accumulation) do not fill 4 stages under the schedule "
            "\"grouped\", which takes 7 micro-batches: the IPUs will be busy 57 % of the time");
  EXPECT_TRUE(report_on(balanced(4), {.micro_batches = 7}).warnings.empty());
  EXPECT_TRUE(report_on(balanced(4, true, sequential), {.micro_batches = 1}).warnings.empty());
  Plan on_one_ipu = balanced(4);
  for (StagePlan& stage : on_one_ipu.stages) stage.ipu = 0;
  EXPECT_TRUE(report_on(on_one_ipu, {.micro_batches = 1}).warnings.empty())
      << "which is never idle";
}

TEST(CompileReport, D5_WarnsWhereCallsOfInferenceDoNotFillThePipeline) {
  using Warnings = std::vector<std::string>;
  const auto warnings = [](const Plan& plan, std::int64_t device_iterations) {
    return report_on(plan, {.micro_batches = device_iterations}).warnings;
  };
  const std::string text =
      " (device iterations) do not fill 4 stages, which takes 4 micro-batches: the IPUs will be "
      "busy ";
  const Plan four = balanced(4, false);
  EXPECT_EQ(warnings(four, 1),
            Warnings{"calls of inference with 1 micro-batch" + text + "25 % of the time"});
  EXPECT_EQ(warnings(four, 3),
            Warnings{"calls of inference with 3 micro-batches" + text + "50 % of the time"});
  EXPECT_EQ(warnings(four, 4), Warnings{});
  EXPECT_EQ(warnings(balanced(1, false), 1), Warnings{});
  EXPECT_EQ(warnings(balanced(4, false, sequential), 1), Warnings{});
  Plan on_one_ipu = balanced(4, false);
  for (StagePlan& stage : on_one_ipu.stages) stage.ipu = 0;
  EXPECT_EQ(warnings(on_one_ipu, 1), Warnings{}) << "which is never idle";
}

TEST(CompileReport, ExpectsNoMoreSpeedThanTheThreadsHave) {
  const auto speedup = [](std::int32_t threads) {
    return report_on(balanced(4), {.micro_batches = 40, .threads = threads}).expected_speedup;
  };
  EXPECT_DOUBLE_EQ(speedup(1), 1);
  EXPECT_NEAR(speedup(2), 1.96, 0.03);  // Four stages hide most of the bubbles of two threads.
  EXPECT_NEAR(speedup(4), 4 * 40 / 43.0, 0.05);
  EXPECT_DOUBLE_EQ(speedup(0), speedup(4));
}

TEST(CompileReport, GoesByMeasuredTimesWhereThereAreAny) {
  const auto report = report_on(balanced(2), {.micro_batches = 1000,
                                              .measured = {{.forward = 1e-6, .backward = 2e-6},
                                                           {.forward = 4e-6, .backward = 5e-6}}});
  EXPECT_DOUBLE_EQ(report.stages[0].share, 0.25);
  EXPECT_DOUBLE_EQ(report.stages[1].share, 0.75);
  EXPECT_EQ(report.stages[1].forward_seconds, 4e-6);
  EXPECT_EQ(report.stages[1].backward_seconds, 5e-6);
  EXPECT_NEAR(report.expected_speedup, 4 / 3.0, 0.05);

  const auto estimate = report_on(balanced(2), {.micro_batches = 1000});
  EXPECT_DOUBLE_EQ(estimate.stages[0].share, 0.5);
  EXPECT_EQ(estimate.stages[0].forward_seconds, 0);
}

/// Under this schedule, stages before `stage` may hold three micro-batches, and `stage` and those
/// after it none.
template <int stage>
constexpr Schedule starving_from{
    .name = "starving",
    .in_flight = [](int number, int) { return number < stage ? 3 : 0; },
    .prefers = Direction::forward};

std::string stall_of(const Plan& plan) {
  return testing::refusal(Errc::internal, [&] { report_on(plan, {.micro_batches = 8}); });
}

TEST(CompileReport, RefusesAScheduleThatStallsAndNamesWhoHoldsItUp) {
  const std::string start = "the schedule \"starving\" stalls a pipeline of 4: stage ";
  const std::string end = ": forward of micro-batch 0 waits for a credit";
  for (const bool training : {true, false}) {
    EXPECT_EQ(stall_of(balanced(4, training, starving_from<0>)), start + "0" + end);
    EXPECT_EQ(stall_of(balanced(4, training, starving_from<2>)), start + "2" + end);
    EXPECT_EQ(stall_of(balanced(4, training, starving_from<4>)), "accepted");
  }
}

TEST(CompileReport, HasARowPerStage) {
  Plan plan = balanced(2);
  plan.stages[1].variables = {{.variable = 0, .type = {DType::f32, {3, 5}}},
                              {.variable = 1, .type = {DType::f32, {3}}}};
  plan.stages[1].parameter_bytes = 128;
  plan.stages[1].stash_bytes = 64;
  plan.stages[1].backward.recomputed_cost = {.flops = 5e5};
  const auto report = report_on(plan, {.micro_batches = 7});
  ASSERT_EQ(report.stages.size(), 2u);
  const StagePlanReport& row = report.stages[1];
  EXPECT_EQ(row.stage, 1);
  EXPECT_EQ(row.ipu, 1);
  EXPECT_EQ(row.blocks, std::vector<std::string>{"B1"});
  EXPECT_EQ(row.parameters, 18);
  EXPECT_EQ(row.forward_flops, 1e6);
  EXPECT_EQ(row.backward_flops, 2e6);
  EXPECT_EQ(row.recomputed_flops, 5e5);
  EXPECT_EQ(row.in_flight_limit, 1);
  EXPECT_EQ(row.stash_bytes, 64);
  EXPECT_EQ(row.bytes, 128 + 64);
}

TEST(CompileReport, HasARowPerEdgeThatCarriesATensor) {
  Plan plan = balanced(2);
  const TensorType activation{DType::f32, {3, 5}};
  plan.edges = {{.kind = EdgeKind::input, .to = 1, .name = "labels", .type = {DType::i64, {3}}},
                {.kind = EdgeKind::activation, .from = 0, .to = 1, .name = "y", .type = activation},
                {.kind = EdgeKind::order, .from = 0, .to = 1},
                {.kind = EdgeKind::gradient, .from = 1, .to = 0, .name = "y", .type = activation}};
  const auto edges = report_on(plan, {.micro_batches = 7}).edges;
  ASSERT_EQ(edges.size(), 3u);
  EXPECT_EQ(edges[0].from, -1);
  EXPECT_EQ(edges[0].tensor, "labels");
  EXPECT_EQ(edges[0].bytes, 24);
  EXPECT_EQ(edges[1].to, 1);
  EXPECT_FALSE(edges[1].gradient);
  EXPECT_EQ(edges[1].bytes, 60);
  EXPECT_EQ(edges[2].from, 1);
  EXPECT_TRUE(edges[2].gradient);
}

}  // namespace
}  // namespace penstock::graph
