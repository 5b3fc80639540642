// These tests check what models report of their last call.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/small_models.hpp"

namespace penstock::testing {
namespace {

void expect_ordered(const Latency& latency, double seconds) {
  EXPECT_GE(latency.least, 0);
  EXPECT_LE(latency.least, latency.mean);
  EXPECT_LE(latency.mean, latency.most);
  EXPECT_LE(latency.most, seconds);
}

TEST(CallReports, R2_6_HaveAMomentForEachMicroBatchThatComesAndGoes) {
  const std::pair<OutputMode, std::size_t> cases[] = {
      {OutputMode::all, 8}, {OutputMode::every_n, 4}, {OutputMode::final, 2}, {OutputMode::sum, 2}};
  for (const auto& [mode, returned] : cases) {
    Options options = options_for(2, 2, 2);  // There are D·G·R = 8 micro-batches.
    options.topology.replication_factor = 2;
    options.output = {.mode = mode, .period = 2};
    options.runtime.trace = true;
    TrainingModel training(plain_model(), options);
    for (int call = 0; call < 2; ++call) {
      training.step(samples(16, false));
      const CallReport& report = training.last_call();
      ASSERT_EQ(report.inputs.size(), 2U);
      ASSERT_EQ(report.outputs.size(), 2U);
      for (const TensorTimes& input : report.inputs) EXPECT_EQ(input.seconds.size(), 8U);
      for (const TensorTimes& output : report.outputs)
        EXPECT_EQ(output.seconds.size(), returned) << to_string(mode);
      // The labels come later than the other input, because the second stage reads them.
      for (std::size_t i = 0; i < 8; ++i)
        EXPECT_LT(report.inputs[0].seconds[i], report.inputs[1].seconds[i]);
      for (const Latency& latency : {report.to_ipus, report.on_ipus, report.from_ipus})
        expect_ordered(latency, report.seconds);
      EXPECT_GT(report.first_run_seconds, 0);
      EXPECT_LE(report.first_run_seconds, report.to_ipus.least);
    }
    EXPECT_FALSE(training.take_trace().empty()) << "reports take nothing from the trace";
  }
}

// The weights of a phase are loaded before its first program runs.
TEST(CallReports, R2_6_TellProgramsFromLoads) {
  Options options = options_for(2, 2, 1);
  options.topology.strategy = Strategy::serial_phased;
  options.runtime.trace = true;
  TrainingModel training(plain_model(), options);
  training.step(samples(4, false));
  const CallReport& report = training.last_call();
  EXPECT_EQ(report.first_run_seconds, report.inputs.at(0).seconds.at(0));
  const auto trace = training.take_trace();
  EXPECT_EQ(trace.at(0).activity, Activity::load);
}

TEST(CallReports, R2_6_TellTheTimeOfACallAloneWhereNothingIsRecorded) {
  const Model model = plain_model();
  TrainingModel training(model, options_for(2, 2, 2));
  EXPECT_EQ(training.last_call().seconds, 0);
  training.step(samples(3, false));
  InferenceModel serving(model, options_for(2, 1, 2));
  serving.run({samples(3, false)[0]});
  for (const CallReport& report : {training.last_call(), serving.last_call()}) {
    EXPECT_GT(report.seconds, 0);
    EXPECT_TRUE(report.inputs.empty() && report.outputs.empty());
    EXPECT_EQ(report.on_ipus.most, 0);
  }
}

TEST(CallReports, R2_6_OfInferenceAreOfTheLastCallEvenAfterADetach) {
  Options options = options_for(2, 1, 3);
  options.runtime.trace = true;
  InferenceModel serving(plain_model(), options);
  for (const std::int64_t count : {6, 4, 1}) {
    serving.run({samples(count, false)[0]});
    const auto micro_batches = static_cast<std::size_t>((count + 1) / 2);
    EXPECT_EQ(serving.last_call().inputs.at(0).seconds.size(), micro_batches);
    EXPECT_EQ(serving.last_call().outputs.at(0).seconds.size(), micro_batches);
    expect_ordered(serving.last_call().on_ipus, serving.last_call().seconds);
    serving.detach();
  }
}

}  // namespace
}  // namespace penstock::testing
