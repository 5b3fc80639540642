// These tests check the page with a run's numbers, as Prometheus reads it.

#include "apps/trainer/output/live_metrics.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <sstream>

namespace trainer {
namespace {

StepMetrics step() {
  StepMetrics step;
  step.epoch = 2;
  step.updates = 40;
  step.loss = 0.25;
  step.accuracy = 0.5;
  step.samples_per_second = 1000;
  step.samples = 400;
  step.learning_rate = 0.001;
  return step;
}

bool has_line(const std::string& page, const std::string& line) {
  return ('\n' + page).find('\n' + line + '\n') != std::string::npos;
}

TEST(LiveMetrics, AreThoseOfTheLastStepAndSumsOfAll) {
  LiveMetrics metrics;
  EXPECT_TRUE(has_line(metrics.page(), "penstock_steps_total 0"));
  EXPECT_EQ(metrics.page().find("penstock_loss"), std::string::npos);
  metrics.note(step());
  metrics.note(step());
  const std::string page = metrics.page();
  for (const std::string line :
       {"penstock_steps_total 2", "penstock_samples_total 800", "penstock_updates_total 40",
        "penstock_epoch 2", "penstock_loss 0.25", "penstock_accuracy 0.5",
        "penstock_learning_rate 0.001", "penstock_samples_per_second 1000"})
    EXPECT_TRUE(has_line(page, line)) << line << "\n" << page;
  EXPECT_EQ(page.find("test_accuracy"), std::string::npos);
  metrics.note(RunMetrics{.test_accuracy = 0.75});
  EXPECT_TRUE(has_line(metrics.page(), "penstock_test_accuracy 0.75"));
}

TEST(LiveMetrics, HaveTheLossOfALanguageModelAndNoAccuracy) {
  LiveMetrics metrics;
  StepMetrics last = step();
  last.accuracy.reset();
  metrics.note(last);
  metrics.note(RunMetrics{.validation_loss = 1.5});
  EXPECT_EQ(metrics.page().find("accuracy"), std::string::npos);
  EXPECT_TRUE(has_line(metrics.page(), "penstock_validation_loss 1.5"));
}

TEST(LiveMetrics, AreInTheTextFormatOfPrometheus) {
  LiveMetrics metrics;
  StepMetrics last = step();
  last.loss = std::numeric_limits<double>::quiet_NaN();
  last.accuracy = -std::numeric_limits<double>::infinity();
  metrics.note(last);
  metrics.note(RunMetrics{.test_accuracy = 1, .validation_loss = 1.5});
  const std::regex legal(
      R"(# HELP [a-z_]+ [^\n]+|# TYPE [a-z_]+ (counter|gauge)|[a-z_]+(\{[a-z]+="[^"]*"\})? )"
      R"(([0-9.e+-]+|NaN|[+-]Inf))");
  std::istringstream lines(metrics.page());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_TRUE(std::regex_match(line, legal)) << line;
  EXPECT_EQ(count, 3 * 11);
  EXPECT_TRUE(has_line(metrics.page(), "penstock_loss NaN"));
  EXPECT_TRUE(has_line(metrics.page(), "penstock_accuracy -Inf"));
}

}  // namespace
}  // namespace trainer
