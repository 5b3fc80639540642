#include "engine/measure_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graph/compile.hpp"
#include "tests/support/model_builder.hpp"

namespace penstock {
namespace {

using testing::ModelBuilder;

/// With class labels, random numbers and running statistics.
ModelBuilder network() {
  ModelBuilder model;
  const auto x = model.input("x", {1, 4, 4}), labels = model.input("labels", {}, DType::i64);
  const auto norm =
      model.apply("batch_norm2d", {x, model.parameter("gamma", {1}), model.parameter("beta", {1}),
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

}  // namespace
}  // namespace penstock
