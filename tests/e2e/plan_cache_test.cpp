// D15 of docs/reference.md: plans are kept in a directory, and are read from there if the same is
// compiled again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "apps/networks/networks.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

std::vector<std::string> phases_of(const CompileReport& report) {
  std::vector<std::string> names;
  for (const CompileStep& step : report.steps) names.push_back(step.name);
  return names;
}

const std::vector<std::string> only_read{"read plan", "start actors"};

Options four_stages(const std::string& directory) {
  Options options{.batch_size = 8};
  options.training.gradient_accumulation = 4;
  options.runtime.cache_directory = directory;
  return options;
}

CompileReport report_of(const Options& options) {
  return TrainingModel(networks::find_network("mnist-cnn").build(0), options, AdamW{})
      .compile_report();
}

TrainingRun run(const Options& options) {
  const auto samples = all_samples(*synthetic_digits(8 * 4 * 3, 0, {}));
  return train(networks::find_network("mnist-cnn").build(0), options, AdamW{}, samples, 3);
}

TEST(PlanCacheOfEngines, D15_SkipsTheCompilerAndChangesNoBit) {
  const TemporaryDirectory directory;
  const Options options = four_stages(directory.path());
  const CompileReport made = report_of(options), read = report_of(options);
  EXPECT_FALSE(made.from_cache);
  EXPECT_TRUE(read.from_cache);
  EXPECT_EQ(phases_of(read), only_read);
  EXPECT_GT(made.steps.size(), only_read.size());
  EXPECT_EQ(describe_stages(read), describe_stages(made));
  EXPECT_EQ(directory.entries().size(), 1u);
  const TrainingRun from_cache = run(options);
  EXPECT_EQ(first_difference(from_cache, run(four_stages(""))), "");
  const Model untrained = networks::find_network("mnist-cnn").build(0);
  for (const auto& [name, weight] : from_cache.weights)
    EXPECT_FALSE(same_bits(weight, untrained.weight(name))) << name << " was not trained";
}

TEST(PlanCacheOfEngines, D15_KeepsAPlanForEachThatDiffers) {
  const TemporaryDirectory directory;
  Options options = four_stages(directory.path());
  report_of(options);
  options.training.gradient_accumulation = 5;
  EXPECT_FALSE(report_of(options).from_cache);
  options.device_iterations = 7;  // No plan depends on the device iterations or the seed.
  options.seed = 3;
  const CompileReport read = report_of(options);
  EXPECT_TRUE(read.from_cache);
  EXPECT_EQ(read.call.updates(), 7);
  const Model model = networks::find_network("mnist-cnn").build(0);
  EXPECT_FALSE(InferenceModel(model, options).compile_report().from_cache);
  EXPECT_TRUE(InferenceModel(model, options).compile_report().from_cache);
  EXPECT_EQ(directory.entries().size(), 3u);
}

TEST(PlanCacheOfEngines, D15_KeepsTheCutThatWasMeasured) {
  const TemporaryDirectory directory;
  Options options = four_stages(directory.path());
  options.topology.automatic_stages = 3;
  const CompileReport made = report_of(options), read = report_of(options);
  EXPECT_EQ(phases_of(read), only_read) << "nothing is measured again";
  ASSERT_EQ(read.stages.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.stages[i].first_layer, made.stages[i].first_layer);
    EXPECT_EQ(read.stages[i].forward_seconds, made.stages[i].forward_seconds);
  }
}

TEST(PlanCacheOfEngines, D15_SayThatAPlanIsTooLargeToBeKept) {
  const TemporaryDirectory directory;
  Options options = four_stages(directory.path());
  options.runtime.cache_bytes = 10;
  const auto warnings = report_of(options).warnings;
  EXPECT_EQ(std::ranges::count_if(warnings,
                                  [](const std::string& warning) {
                                    return warning.starts_with(
                                        "plan cache: options.runtime.cache_bytes: expected ");
                                  }),
            1);
  EXPECT_FALSE(report_of(options).from_cache);
}

TEST(PlanCacheOfEngines, D15_CompileAnewWhereAPlanIsDamaged) {
  const TemporaryDirectory directory;
  const Options options = four_stages(directory.path());
  report_of(options);
  const auto file = directory / *directory.entries().begin();
  const std::string whole = file_content(file);
  for (const std::string& damaged :
       {whole.substr(0, whole.size() / 2), whole.substr(0, 10), std::string(), whole + "more"}) {
    write_file(file, damaged);
    EXPECT_FALSE(report_of(options).from_cache);
    EXPECT_TRUE(report_of(options).from_cache) << "it was replaced";
  }
}

std::ptrdiff_t cache_warnings(const std::vector<std::string>& lines) {
  return std::ranges::count_if(
      lines, [](const std::string& line) { return line.starts_with("plan cache: "); });
}

TEST(PlanCacheOfEngines, D15_LeaveAloneWhatIsNoPlanAndWarn) {
  const TemporaryDirectory directory;
  const Options options = four_stages(directory.path());
  report_of(options);
  const auto file = directory / *directory.entries().begin();
  for (const std::string& foreign : {std::string("\n"), "another's " + file_content(file)}) {
    write_file(file, foreign);
    for (int again = 0; again < 2; ++again) {
      const CompileReport report = report_of(options);
      EXPECT_FALSE(report.from_cache);
      EXPECT_EQ(cache_warnings(report.warnings), 1);
    }
    EXPECT_EQ(file_content(file), foreign);
  }
}

// A short call needs a plan of its own. No host sees the report of that plan, so its warnings go to
// the log.
TEST(PlanCacheOfEngines, D15_TellTheLogOfAPlanForAShortCallThatIsNotKept) {
  const TemporaryDirectory directory;
  Options options = four_stages(directory / "cache");
  std::vector<std::string> lines;
  options.runtime.log_level = LogLevel::warning;
  options.runtime.log = [&](std::string_view line) { lines.emplace_back(line); };
  const Model model = networks::find_network("mnist-cnn").build(0);
  InferenceModel inference(model, options);
  EXPECT_EQ(cache_warnings(lines), 0);
  std::filesystem::remove_all(directory / "cache");
  write_file(directory / "cache", "");
  inference.run({Tensor::zeros(DType::f32, {3, 1, 28, 28})});
  EXPECT_EQ(cache_warnings(lines), 1);
  EXPECT_EQ(cache_warnings(inference.compile_report().warnings), 0);
}

TEST(PlanCacheOfEngines, D15_WorkWithoutADirectoryThatCannotBeUsedAndWarn) {
  const TemporaryDirectory directory;
  write_file(directory / "file", "");
  const CompileReport report = report_of(four_stages(directory / "file"));
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_EQ(report.warnings.back(), "plan cache: \"" + (directory / "file").string() +
                                        "\": expected a directory for plans: Not a directory");
}

TEST(PlanCacheOfEngines, D15_TakeNoListenersFailureForTheCaches) {
  const TemporaryDirectory directory;
  Options options = four_stages(directory.path());
  int calls = 0;
  options.runtime.compile_progress = [&](const CompileProgress&) {
    ++calls;
    throw Error(Errc::io_error, "the host's own");
  };
  EXPECT_EQ(refusal(Errc::io_error, [&] { report_of(options); }), "the host's own");
  EXPECT_EQ(calls, 1) << "nothing is compiled a second time";
}

TEST(PlanCacheOfEngines, H7_AreAskedForByTheEnvironmentToo) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::setenv("PENSTOCK_CACHE_DIR", directory.path().c_str(), 1), 0);
  const bool first = report_of(four_stages("")).from_cache;
  const bool second = report_of(four_stages("")).from_cache;
  const TemporaryDirectory other;
  const bool elsewhere = report_of(four_stages(other.path())).from_cache;
  ::unsetenv("PENSTOCK_CACHE_DIR");
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
  EXPECT_FALSE(elsewhere) << "options come before the environment";
  EXPECT_FALSE(report_of(four_stages("")).from_cache);
}

}  // namespace
}  // namespace penstock::testing
