#include "engine/call_samples.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

/// Returns options for micro-batches of two samples, three of them for each update, two updates in
/// each call, and two replicas.
Options options() {
  Options options{.batch_size = 2, .device_iterations = 2};
  options.training.gradient_accumulation = 3;
  options.topology.replication_factor = 2;
  return options;
}

std::string refused(std::int64_t samples, const Options& options, bool training) {
  const CallSize size = training ? size_of_step(options) : size_of_run(options);
  return refusal(Errc::shape_mismatch, [&] { expect_samples(samples, options, size); });
}

bool is_legal(std::int64_t remainder, std::int64_t batch, const std::vector<MicroBatches>& micro) {
  return micro.size() == 1 && micro[0].count * micro[0].samples == remainder &&
         micro[0].samples <= batch;
}

TEST(CallSamples, OfARestInTrainingAreInEqualMicroBatchesAsLargeAsTheyCanBe) {
  for (std::int64_t batch = 1; batch <= 9; ++batch)
    for (std::int64_t remainder = 1; remainder <= 40; ++remainder) {
      const auto micro =
          micro_batches_of_remainder(remainder, {.training = true, .batch_size = batch});
      ASSERT_TRUE(is_legal(remainder, batch, micro)) << remainder << " in " << batch;
      for (std::int64_t larger = micro[0].samples + 1; larger <= batch; ++larger)
        ASSERT_NE(remainder % larger, 0) << remainder << " in " << batch;
    }
  EXPECT_TRUE(micro_batches_of_remainder(0, {.training = true, .batch_size = 4}).empty());
}

TEST(CallSamples, OfARestInInferenceAreInWholeMicroBatchesAndAShorterOne) {
  for (std::int64_t batch = 1; batch <= 9; ++batch)
    for (std::int64_t remainder = 0; remainder <= 40; ++remainder) {
      std::int64_t samples = 0;
      const auto micro =
          micro_batches_of_remainder(remainder, {.training = false, .batch_size = batch});
      for (std::size_t i = 0; i < micro.size(); ++i) {
        samples += micro[i].count * micro[i].samples;
        const bool is_last = i + 1 == micro.size();
        ASSERT_TRUE(micro[i].samples == batch || (is_last && micro[i].count == 1));
        ASSERT_GE(micro[i].samples, 1);
      }
      ASSERT_EQ(samples, remainder);
      ASSERT_LE(micro.size(), 2U);
    }
}

TEST(CallSamples, OfAnIterationMakeAFullCallTogether) {
  Options grouped = options();
  EXPECT_EQ(samples_per_iteration(size_of_step(grouped)), 12);
  EXPECT_EQ(samples_per_iteration(size_of_run(grouped)), 4);
  grouped.topology.input_group_size = 2;
  EXPECT_EQ(samples_per_iteration(size_of_step(grouped)), 6);
  EXPECT_EQ(samples_per_iteration(size_of_run(grouped)), 2);
}

TEST(CallSamples, MayBeAnyNumberUpToAFullCall) {
  for (const bool training : {true, false}) {
    const std::int64_t full = training ? 24 : 8;
    for (std::int64_t samples = 1; samples <= full; ++samples)
      EXPECT_EQ(refused(samples, options(), training), "accepted") << samples;
  }
}

TEST(CallSamples, ThatAreTooManyOrNoneAreRefusedByWhatAFullCallTakes) {
  const std::string step =
      "24 samples (batch size x gradient accumulation x device iterations x replicas)";
  const std::string run = "8 samples (batch size x device iterations x replicas)";
  EXPECT_EQ(refused(25, options(), true), "step: expected 1 to " + step + ", got 25");
  EXPECT_EQ(refused(0, options(), false), "run: expected 1 to " + run + ", got 0");
  Options fixed = options();
  fixed.static_shapes = true;
  const std::string because = ", for options.static_shapes is set, got 0";
  EXPECT_EQ(refused(0, fixed, true), "step: expected " + step + because);
  EXPECT_EQ(refused(0, fixed, false), "run: expected " + run + because);
  EXPECT_EQ(refused(8, fixed, false), "accepted");
}

TEST(CallSamples, OfReplicasThatShareThemAreWholeIterations) {
  Options grouped = options();
  grouped.topology.input_group_size = 2;
  const std::string because =
      " samples, for replicas share their inputs (options.topology.input_group_size), got 3";
  EXPECT_EQ(refused(3, grouped, true), "step: expected a multiple of 6" + because);
  EXPECT_EQ(refused(3, grouped, false), "run: expected a multiple of 2" + because);
  EXPECT_EQ(refused(13, grouped, true),
            "step: expected 1 to 12 samples (batch size x gradient accumulation x device "
            "iterations x input groups), got 13");
}

TEST(CallSamples, AreWholeIterationsWhereAnOutputWouldMixMicroBatchesOfTwoSizes) {
  for (const OutputMode mode : {OutputMode::automatic, OutputMode::all, OutputMode::final,
                                OutputMode::every_n, OutputMode::sum})
    for (const bool training : {true, false}) {
      const bool mixes = mode == OutputMode::every_n || mode == OutputMode::sum ||
                         (mode == OutputMode::final && !training);
      const std::string expected = mixes ? std::string(training ? "step: expected a multiple of 12"
                                                                : "run: expected a multiple of 4") +
                                               " samples, for the output mode is " +
                                               std::string(to_string(mode)) + ", got 5"
                                         : "accepted";
      Options output = options(), anchor = options();
      output.output.mode = mode;
      anchor.output.anchors = {{.name = "a", .mode = mode}};
      EXPECT_EQ(refused(5, output, training), expected);
      EXPECT_EQ(refused(5, anchor, training), expected);
    }
}

}  // namespace
}  // namespace penstock
