// These tests check runs of the trainer that begin well and then fail, and what they leave behind.

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "tests/e2e/trainer/metrics_file.hpp"
#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

using nlohmann::json;

TEST(TrainerFailure, AnInterruptLeavesFilesAsTheyWereAndNothingElse) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const TemporaryDirectory directory;
    write_file(directory / "metrics", "before");
    const CommandResult result =
        train({"--dataset", "synthetic", "--model", "mlp", "--epochs", "1000000", "--metrics",
               (directory / "metrics").string(), "--save-weights", (directory / "weights").string(),
               "--profile", "--profile-dir", (directory / "profile").string()},
              {.signal = signal});
    EXPECT_EQ(result.code, -1);
    EXPECT_EQ(file_content(directory / "metrics"), "before");
    EXPECT_EQ(directory.entries(), (std::set<std::string>{"metrics", "profile"}));
    EXPECT_TRUE(std::filesystem::is_empty(directory / "profile" / "training"));
    EXPECT_TRUE(std::filesystem::is_empty(directory / "profile" / "inference"));
  }
}

TEST(TrainerFailure, AProfileThatCannotBeWrittenLosesNothingElse) {
  const TemporaryDirectory directory;
  // The trace is several times as large as the weights.
  const CommandResult result =
      train({"--dataset", "synthetic", "--model", "mlp", "--max-updates", "100", "--profile",
             "--profile-dir", (directory / "profile").string(), "--save-weights",
             (directory / "weights").string(), "--metrics", (directory / "metrics").string()},
            {.file_bytes = 2'000'000});
  expect_success(result);
  EXPECT_GE(printed_accuracy(result), 0);
  EXPECT_NE(result.err.find("note: --profile: "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("there is no new profile"), std::string::npos) << result.err;
  EXPECT_EQ(directory.entries(), (std::set<std::string>{"metrics", "profile", "weights"}));
  EXPECT_GT(std::filesystem::file_size(directory / "weights"), 900'000U);
  EXPECT_TRUE(std::filesystem::is_empty(directory / "profile" / "training"));
}

std::string last_line(const std::string& text) {
  return text.size() < 2 ? text : text.substr(text.rfind('\n', text.size() - 2) + 1);
}

/// Runs the trainer with files in `directory`, and expects that it trains, then fails to write, and
/// names `reason`.
void expect_failure_after_training(const TemporaryDirectory& directory,
                                   const CommandOptions& options, const std::string& reason) {
  const CommandResult result =
      train(quick_mlp + Arguments{"--metrics", (directory / "metrics").string(), "--save-weights",
                                  (directory / "weights").string()},
            options);
  EXPECT_EQ(result.code, 1);
  const std::string line = last_line(result.err);
  EXPECT_EQ(line.rfind("penstock-train: cannot write", 0), 0U) << line;
  EXPECT_NE(line.find(reason), line.npos) << line;
}

TEST(TrainerFailure, ADiskThatFillsUpFailsTheRunAndLeavesFilesAsTheyWere) {
  const TemporaryDirectory directory;
  write_file(directory / "metrics", "before");
  expect_failure_after_training(directory, {.file_bytes = 2000}, "File too large");
  EXPECT_EQ(file_content(directory / "metrics"), "before");
  EXPECT_EQ(directory.entries(), std::set<std::string>{"metrics"});
}

const Arguments diverging = quick_mlp + Arguments{"--optimizer", "sgd", "--learning-rate", "1e30"};

std::size_t occurrences(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(TrainerFailure, SaysOnceThatTheLossIsNoNumberAndKeepsMetricsReadable) {
  const TemporaryDirectory directory;
  const CommandResult result =
      train(diverging + Arguments{"--metrics", (directory / "metrics").string()});
  expect_success(result);
  const std::string note =
      "penstock-train: note: the loss is not finite since epoch 1, step 1; a lower --learning-rate "
      "or a --max-grad-norm may help\n";
  EXPECT_EQ(occurrences(note, result.err), 1U) << result.err;
  EXPECT_EQ(occurrences("not finite", result.err), 1U) << result.err;
  const std::vector<json> lines = metrics_lines(directory / "metrics");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_TRUE(lines[0].at("losses")[0].is_number());
  EXPECT_TRUE(lines[1].at("losses")[0].is_null() && lines[1].at("loss").is_null());
}

TEST(TrainerFailure, WeightsThatAreNoNumbersFailTheRunInsteadOfReplacingAnything) {
  const TemporaryDirectory directory;
  write_file(directory / "weights", "before");
  write_file(directory / "metrics", "before");
  const CommandResult result =
      train(diverging + Arguments{"--save-weights", (directory / "weights").string(), "--metrics",
                                  (directory / "metrics").string()});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  const std::string line = last_line(result.err);
  EXPECT_EQ(
      line.rfind("penstock-train: --save-weights: expected finite weights after training, got "
                 "infinity or nan in tensor \"",
                 0),
      0U)
      << line;
  EXPECT_EQ(file_content(directory / "weights"), "before");
  EXPECT_EQ(file_content(directory / "metrics"), "before");
  EXPECT_EQ(directory.entries(), (std::set<std::string>{"metrics", "weights"}));
}

/// Checks that the run has left its files and no others, and that they are whole.
void expect_files(const TemporaryDirectory& directory) {
  EXPECT_EQ(directory.entries(), (std::set<std::string>{"metrics", "weights"}));
  EXPECT_EQ(metrics_lines(directory / "metrics").size(), 4U);
  EXPECT_EQ(train(quick_mlp + Arguments{"--init-weights", (directory / "weights").string()}).code,
            0);
}

TEST(TrainerFailure, AResultThatNobodyGetsFailsTheRunAndKeepsWhatWasTrained) {
  for (const CommandOptions& options : std::vector<CommandOptions>{
           {.out = "/dev/full"}, {.unread_out = Unread::hung_up}, {.unread_out = Unread::closed}}) {
    const TemporaryDirectory directory;
    expect_failure_after_training(directory, options, "the standard output");
    expect_files(directory);
  }
}

TEST(TrainerFailure, ARunGoesOnWhenNobodyReadsItsProgress) {
  for (const Unread end : {Unread::hung_up, Unread::closed}) {
    const TemporaryDirectory directory;
    const CommandResult result =
        train(quick_mlp + Arguments{"--debug", "--metrics", (directory / "metrics").string(),
                                    "--save-weights", (directory / "weights").string()},
              {.unread_err = end});
    expect_success(result);
    EXPECT_GE(printed_accuracy(result), 0) << result.out;
    expect_files(directory);
  }
}

}  // namespace
}  // namespace penstock::testing
