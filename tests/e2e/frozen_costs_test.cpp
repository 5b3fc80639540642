// These tests check that nothing is computed, sent or kept for frozen parameters.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/e2e/frozen_body.hpp"

namespace penstock::testing {
namespace {

TEST(FrozenCosts, BodiesHaveNoBackwardSendNoGradientAndKeepNoState) {
  const TrainingRun frozen = run(frozen_body(), staged(cuts[2]));
  for (const StageReport& stage : frozen.stages) {
    const bool trains = stage.stage == 3;
    EXPECT_EQ(stage.backward_runs, trains ? accumulation * updates : 0) << stage.stage;
    EXPECT_EQ(stage.optimizer_bytes_on_ipu > 0, trains) << stage.stage;
  }
  std::vector<std::string> names;
  for (const NamedTensor& state : frozen.state) names.push_back(state.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"step", "layer4.weight.exp_avg", "layer4.weight.exp_avg_sq",
                                      "layer4.bias.exp_avg", "layer4.bias.exp_avg_sq"}));

  const TrainingModel training(frozen_body(), staged(cuts[2]), adam());
  const CompileReport& report = training.compile_report();
  for (const StagePlanReport& stage : report.stages)
    EXPECT_EQ(stage.backward_flops > 0, stage.stage == 3) << stage.stage;
  for (const EdgePlanReport& edge : report.edges) EXPECT_FALSE(edge.gradient) << edge.tensor;
  for (const std::string& warning : report.warnings)
    EXPECT_EQ(warning.find("is not trained"), warning.npos) << warning;
}

TEST(FrozenCosts, BodiesSendNothingBackInBytes) {
  const TrainingRun frozen = run(frozen_body(), staged(cuts[2]));
  const TrainingModel training(frozen_body(), staged(cuts[2]), adam());
  std::vector<std::int64_t> forward(4);
  for (const EdgePlanReport& edge : training.compile_report().edges)
    if (edge.from >= 0) forward[static_cast<std::size_t>(edge.from)] += edge.bytes;
  for (const StageReport& stage : frozen.stages)
    EXPECT_EQ(stage.sent_bytes,
              forward[static_cast<std::size_t>(stage.stage)] * accumulation * updates)
        << stage.stage;
}

// The memory of a stage falls by its gradient sums, its optimizer's state and what only its
// backward needs. What the stage takes when it runs falls by what the report says.
TEST(FrozenCosts, BodiesTakeLessMemoryAsTheReportSays) {
  const Model whole = networks::find_network("mnist-cnn").build(3);
  const TrainingModel before(whole, staged(cuts[2]), adam());
  const TrainingModel after(frozen_body(), staged(cuts[2]), adam());
  const auto used_before = run(whole, staged(cuts[2])).stages;
  const auto used_after = run(frozen_body(), staged(cuts[2])).stages;
  for (std::size_t i = 0; i < 3; ++i) {
    const StagePlanReport& planned = before.compile_report().stages[i];
    const std::int64_t weights = 4 * planned.parameters;
    const std::int64_t saved = planned.bytes - after.compile_report().stages[i].bytes;
    EXPECT_GE(saved, weights) << "there are no gradient sums";
    EXPECT_EQ(used_after[i].optimizer_bytes_on_ipu, 0);
    EXPECT_EQ(used_before[i].optimizer_bytes_on_ipu, 2 * weights);
    EXPECT_EQ(used_before[i].peak_bytes - used_after[i].peak_bytes, saved + 2 * weights)
        << "stage " << i;
  }
}

TEST(FrozenCosts, BodiesHaveNoBackwardInTheProfileAndTheirIpusNoMemoryForIt) {
  Options options = staged(cuts[2]);
  options.runtime.trace = true;
  TrainingModel training(frozen_body(), options, adam());
  training.step(
      {digits()[0].rows(0, batch * accumulation), digits()[1].rows(0, batch * accumulation)});
  const Profile profile = training.profile();
  for (const StageProfile& stage : profile.stages) {
    EXPECT_EQ(stage.forward.runs, accumulation) << stage.stage;
    EXPECT_EQ(stage.backward.runs, stage.stage == 3 ? accumulation : 0) << stage.stage;
  }
  for (const OpProfile& op : profile.ops) EXPECT_TRUE(!op.backward || op.stage == 3) << op.name;
  for (const TraceEvent& event : profile.events)
    EXPECT_TRUE(event.activity != Activity::backward || event.stage == 3);
  for (const IpuProfile& ipu : profile.ipus) {
    std::int64_t bytes = 0;
    for (const std::int64_t of_class : ipu.memory.class_bytes) bytes += of_class;
    EXPECT_EQ(bytes, ipu.memory.peak_bytes);
    for (const MemoryClass trained : {MemoryClass::accumulators, MemoryClass::optimizer_state})
      EXPECT_EQ(ipu.memory.of(trained) > 0, ipu.ipu == 3) << to_string(trained);
  }
}

TEST(FrozenCosts, ParametersAreNotInTheHostStore) {
  constexpr Offload whole_class{.on = true, .minimum_bytes = 0};
  Options options = staged(cuts[2]);
  options.training.offload.optimizer_state = options.training.offload.accumulators = whole_class;
  for (const StageReport& stage : run(frozen_body(), options).stages) {
    EXPECT_EQ(stage.optimizer_state.bytes > 0, stage.stage == 3) << stage.stage;
    EXPECT_EQ(stage.accumulators.bytes > 0, stage.stage == 3) << stage.stage;
  }
}

}  // namespace
}  // namespace penstock::testing
