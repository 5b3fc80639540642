// These tests compare what recomputation does to a network's memory and work with what the
// tutorials say. topologies_test checks that recomputation changes no bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "apps/networks/networks.hpp"
#include "penstock/error.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

using Bytes = std::vector<std::int64_t>;

Options options_of(bool recompute, PipelineSchedule schedule = PipelineSchedule::grouped,
                   int batch = 48) {
  Options options{.batch_size = batch};
  options.topology.schedule = schedule;
  options.training.gradient_accumulation = 8;
  options.training.recompute = recompute;
  return options;
}

TrainingModel training_with(const Options& options) {
  return {networks::find_network("mnist-cnn").build(0), options, AdamW{}};
}

CompileReport report_of(const Options& options) {
  return training_with(options).compile_report();
}

Bytes stash_of(const CompileReport& report) {
  Bytes stash;
  for (const StagePlanReport& stage : report.stages) stash.push_back(stage.stash_bytes);
  stash.pop_back();  // The last stage never recomputes.
  return stash;
}

std::vector<int> slots_of(const CompileReport& report) {
  std::vector<int> slots;
  for (const StagePlanReport& stage : report.stages) slots.push_back(stage.in_flight_limit);
  return slots;
}

// The inputs of the four stages have 125,440, 230,400, 51,200 and 40,960 bytes for 40 images. The
// stage that computes an input of the next stage keeps it, and the host keeps the images. So stages
// 0, 1 and 2 keep the last three of these numbers.
TEST(Recomputation, KeepsOfTheTutorialsNetworkWhatTheNextStageReceives) {
  EXPECT_EQ(stash_of(report_of(options_of(true, PipelineSchedule::grouped, 48))),
            (Bytes{230'400 * 48 / 40, 51'200 * 48 / 40, 40'960 * 48 / 40}));
  EXPECT_EQ(stash_of(report_of(options_of(true, PipelineSchedule::grouped, 40))),
            (Bytes{230'400 * 48 / 40, 51'200 * 48 / 40, 40'960}))
      << "what convolutions compute has lanes for 48 images";
}

TEST(Recomputation, HoldsAsManyMicroBatchesAsTheScheduleAllows) {
  EXPECT_EQ(slots_of(report_of(options_of(true))), (std::vector<int>{7, 5, 3, 1}));
  EXPECT_EQ(slots_of(report_of(options_of(true, PipelineSchedule::interleaved))),
            (std::vector<int>{4, 3, 2, 1}));
}

TEST(Recomputation, RepeatsWhatIsNotKept) {
  const CompileReport kept = report_of(options_of(false)), report = report_of(options_of(true));
  for (std::size_t stage = 0; stage < 4; ++stage) {
    const StagePlanReport &before = kept.stages[stage], &after = report.stages[stage];
    EXPECT_EQ(before.recomputed_flops, 0);
    EXPECT_EQ(after.forward_flops, before.forward_flops);
    EXPECT_EQ(after.backward_flops, before.backward_flops + after.recomputed_flops);
    EXPECT_EQ(after.stash_bytes < before.stash_bytes, stage < 3) << stage;
    EXPECT_EQ(after.bytes < before.bytes, stage < 3) << stage;
    // A fused convolution runs again to find the maxima that its pooling chose. The result of the
    // dense layer is kept.
    EXPECT_EQ(after.recomputed_flops, stage < 2 ? after.forward_flops : 0) << stage;
  }
}

std::vector<Tensor> images(std::int64_t count) {
  return all_samples(*first_samples(
      read_idx(data_path("mnist"), Split::train, {.mean = 0.1307, .std = 0.3081}), count));
}

// 3.6 of docs/reference.md: all stages but the last run forward twice, and their peaks are as much
// lower as planned.
TEST(Recomputation, RepeatsSomethingInEveryStageButTheLastAndLowersThePeakAsPlanned) {
  const Options with = options_of(true), without = options_of(false);
  TrainingModel recomputed = training_with(with), kept = training_with(without);
  const auto samples = images(with.samples_per_step());
  recomputed.step(samples);
  kept.step(samples);
  const auto after = recomputed.stage_reports(), before = kept.stage_reports();
  for (std::size_t stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(after[stage].forward_runs, 8U);
    EXPECT_EQ(after[stage].recomputed_runs, stage < 3 ? 8U : 0U) << stage;
    EXPECT_EQ(before[stage].recomputed_runs, 0U);
    const std::int64_t planned =
        kept.compile_report().stages[stage].bytes - recomputed.compile_report().stages[stage].bytes;
    EXPECT_EQ(before[stage].peak_bytes - after[stage].peak_bytes, planned) << stage;
  }
}

TEST(Recomputation, MakesAModelFitThatDidNot) {
  Options tight = options_of(true);
  tight.topology.ipu_memory_bytes = 3'000'000;
  EXPECT_NO_THROW(training_with(tight));
  tight.training.recompute = false;
  const std::string text = refusal(Errc::out_of_memory, [&] { training_with(tight); });
  EXPECT_NE(text.find("; or recomputation (options.training.recompute), which needs "), text.npos)
      << text;
}

TEST(Recomputation, OfASingleStageIsNoneAndSaysSo) {
  Options options = options_of(true);
  options.topology.stages = parse_stages("B1,B2,B3,B4");
  const CompileReport report = report_of(options);
  EXPECT_EQ(report.stages[0].recomputed_flops, 0);
  EXPECT_EQ(std::ranges::count_if(report.warnings,
                                  [](const std::string& warning) {
                                    return warning.starts_with("nothing is recomputed: ");
                                  }),
            1);
}

TEST(Recomputation, RefusesStagesThatCannot) {
  Options options = options_of(true);
  options.training.recompute_stages = {0, 3};
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { training_with(options); }),
            "options.training.recompute_stages: expected stages before stage 3, for the last one "
            "never recomputes, got 3");
  options.topology.automatic_stages = 3;
  EXPECT_EQ(refusal(Errc::invalid_topology, [&] { training_with(options); }),
            "options.training.recompute_stages: expected stages before stage 2, for the last one "
            "never recomputes, got 3");
}

TEST(Recomputation, CheckpointsBelongToTheModel) {
  Model model("marked");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.recomputation_checkpoint(Value()); }),
            "recomputation_checkpoint: expected a value of model \"marked\", got one of no model");
}

}  // namespace
}  // namespace penstock::testing
