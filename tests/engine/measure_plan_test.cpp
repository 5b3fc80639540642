#include "engine/measure_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "graph/compile/compile.hpp"
#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "tests/support/model_builder.hpp"

namespace penstock {
namespace {

using testing::ModelBuilder;

/// Builds a network with class labels, random numbers and running statistics.
ModelBuilder network() {
  ModelBuilder model;
  const auto x = model.input("x", {1, 4, 4}), labels = model.input("labels", {}, DType::i64);
  const auto norm =
      model.apply("batch_norm", {x, model.parameter("gamma", {1}), model.parameter("beta", {1}),
                                 model.buffer("mean", {1}), model.buffer("variance", {1})});
  const auto flat = model.apply("reshape", {norm}, {{"shape", std::vector<std::int64_t>{-1, 16}}});
  const auto wide = model.linear("wide", model.apply("dropout", {flat}, {{"p", 0.5}}), 4096);
  const auto scores = model.linear("narrow", model.linear("back", wide, 16), 3);
  model.output("scores", scores);
  model.loss(model.apply("cross_entropy", {scores, labels}));
  return model;
}

void expect_times(const graph::Program& program, const std::vector<double>& times) {
  EXPECT_EQ(times.size(), program.instructions.size());
  for (const double time : times) EXPECT_TRUE(std::isfinite(time) && time >= 0) << time;
}

TEST(MeasurePlan, TimesEveryInstructionOfAPlanForTrainingOrInference) {
  for (const bool training : {true, false}) {
    const graph::Plan plan =
        graph::compile(network().graph(), {.training = training, .batch = 8}).plan;
    const graph::InstructionTimes times = measure_instructions(plan);
    expect_times(plan.stages[0].forward, times.forward);
    expect_times(plan.stages[0].backward, times.backward);
    EXPECT_EQ(times.backward.empty(), !training);
    EXPECT_GT(std::ranges::max(times.forward), 0);
  }
}

/// Returns a model with the loss of `sample` behind a layer whose results are far outside of 0 to
/// 1.
ModelBuilder far_from_probabilities(const graph::Op& loss, const graph::OpSample& sample) {
  ModelBuilder model;
  std::vector<graph::ValueId> inputs;
  for (const graph::TensorType& type : sample.inputs) {
    const auto dims = type.shape.dims().subspan(1);
    inputs.push_back(
        model.input("x" + std::to_string(inputs.size()), {dims.begin(), dims.end()}, type.dtype));
  }
  const auto wide = model.apply("scale", {inputs[0]}, {{"factor", -1e3}});
  inputs[0] = model.apply("mul", {wide, model.parameter("weight", {1})});
  const auto result = model.apply(loss, inputs, sample.attributes);
  model.loss(model.apply("identity_loss", {result}));
  return model;
}

// A loss may refuse numbers that are no probabilities. A trained model may give probabilities
// although made-up data give other numbers, so that measuring must not be refused.
TEST(MeasurePlan, RefusesNoLossForDataThatNobodySupplied) {
  int losses = 0;
  for (const graph::Op* op : graph::all_ops()) {
    if (!op->is_loss) continue;
    ++losses;
    const graph::OpSample sample = op->samples()[0];
    const graph::Plan plan = graph::compile(far_from_probabilities(*op, sample).graph(),
                                            {.training = true, .batch = sample.inputs[0].shape[0]})
                                 .plan;
    EXPECT_NO_THROW(expect_times(plan.stages[0].backward, measure_instructions(plan).backward))
        << op->name;
  }
  EXPECT_GT(losses, 15);
}

// Contents of an input that are valid for one of its readers may be invalid for another.
TEST(MeasurePlan, MeasuresOpsThatShareAnInputWithEachOther) {
  ModelBuilder model;
  const auto labels = model.input("labels", {}, DType::i64);
  const auto rows = model.apply("embedding", {model.parameter("table", {50, 4}), labels});
  const auto few = model.apply("cross_entropy", {model.linear("few", rows, 2), labels});
  const auto many = model.apply("nll_loss", {model.linear("many", rows, 30), labels},
                                {{"ignore_index", std::int64_t{0}}});
  model.loss(model.apply("identity_loss", {model.apply("add", {few, many})}));
  const graph::Plan plan = graph::compile(model.graph(), {.training = true, .batch = 64}).plan;
  expect_times(plan.stages[0].backward, measure_instructions(plan).backward);
}

}  // namespace
}  // namespace penstock
