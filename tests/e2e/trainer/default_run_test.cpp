// These tests check what a user gets who starts the trainer without options: it trains the default
// network on the whole default data set, for as many epochs as the trainer chooses.

#include <gtest/gtest.h>

#include <set>

#include "tests/e2e/trainer/metrics_file.hpp"
#include "tests/e2e/trainer/trainer.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

struct DefaultRun {
  int epochs;
  double least_accuracy;  ///< This is in percent, a point and a half below the worst of six seeds.
  Arguments arguments;
};

/// Returns the run to test. The default command takes seconds, but minutes under sanitizers, where
/// it gets one epoch.
DefaultRun default_run() {
  if (sanitized) return {.epochs = 1, .least_accuracy = 78, .arguments = {"--epochs", "1"}};
  return {.epochs = 3, .least_accuracy = 84, .arguments = {}};  // The seeds gave 85.5 % to 86.6 %.
}

TEST(TrainerByDefault, TrainsTheDefaultNetworkOnTheWholeDefaultDataSet) {
  constexpr int images = 60000, images_per_step = 40 * 10 * 10;
  const TemporaryDirectory directory;
  const DefaultRun run = default_run();
  const CommandResult result =
      train(run.arguments + Arguments{"--metrics", (directory / "metrics").string()});
  expect_success(result);
  EXPECT_GT(printed_accuracy(result), run.least_accuracy);
  const auto lines = metrics_lines(directory / "metrics");
  ASSERT_EQ(std::ssize(lines), run.epochs * images / images_per_step + 1);
  EXPECT_EQ(lines[lines.size() - 2].at("updates"), run.epochs * images / (40 * 10));
  std::set<int> ipus;
  for (const auto& stage : lines.back().at("summary").at("stages")) {
    ipus.insert(stage.at("ipu").get<int>());
    EXPECT_EQ(stage.at("backward_runs"), run.epochs * images / 40);
  }
  EXPECT_EQ(ipus, (std::set{0, 1, 2, 3}));
}

}  // namespace
}  // namespace penstock::testing
