// These tests check what a model tells its log.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

/// Returns the number of lines that a training of one step, and its end, leave at a level.
std::size_t lines_at(LogLevel level) {
  std::size_t lines = 0;
  // The window is too small for two stages, so that one line is a warning.
  Options options = options_for(2, 1, 1);
  options.runtime.log_level = level;
  options.runtime.log = [&](std::string_view) { ++lines; };
  TrainingModel training(plain_model(), options);
  const std::size_t compiled = lines;
  training.step(samples(2, false));
  return level == LogLevel::debug ? lines - compiled : compiled;
}

TEST(LogLevels, D14_LeaveOutWhatMattersLess) {
  EXPECT_GT(lines_at(LogLevel::debug), 0U);
  EXPECT_GT(lines_at(LogLevel::info), 0U);
  EXPECT_GT(lines_at(LogLevel::warning), 0U);
  EXPECT_EQ(lines_at(LogLevel::error), 0U);
  EXPECT_EQ(lines_at(LogLevel::off), 0U);
}

TEST(LogLevels, D14_ComeFromTheEnvironmentWhereTheOptionsHaveNone) {
  const auto with_variable = [](const char* value) {
    ::setenv("PENSTOCK_LOG_LEVEL", value, 1);
    const std::size_t lines = lines_at(LogLevel::automatic);
    ::unsetenv("PENSTOCK_LOG_LEVEL");
    return lines;
  };
  EXPECT_EQ(with_variable("error"), 0U);
  EXPECT_GT(with_variable("info"), 0U);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { with_variable("loud"); }),
            "PENSTOCK_LOG_LEVEL: expected one of debug, info, warning, error, off, got \"loud\"");
  ::unsetenv("PENSTOCK_LOG_LEVEL");
}

TEST(LoggedModel, D14_IsToldAllOfItsConstructionThoughTheFirstLineThrows) {
  std::size_t lines = 0, thrown_at = 0;
  Options options = options_for(2, 1, 1);
  options.runtime.log_level = LogLevel::info;
  options.runtime.log = [&](std::string_view) {
    if (++lines == thrown_at) throw std::runtime_error("of the log");
  };
  const InferenceModel undisturbed(plain_model(), options);
  const std::size_t all = std::exchange(lines, 0);
  EXPECT_GT(all, 1U);
  thrown_at = 1;
  EXPECT_THROW(InferenceModel(plain_model(), options), std::runtime_error);
  EXPECT_EQ(lines, all);
}

// At the first line of the step, the log reads the weights back, which is another line.
TEST(LoggedModel, D14_MayBeCalledByItsLog) {
  const Model model = plain_model();
  const std::string weight = model.parameters()[0].name;
  std::vector<std::string> lines;
  Tensor seen;
  Options options = options_for(2, 1, 1);
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [&](std::string_view line) {
    lines.emplace_back(line);
    seen = model.weight(weight);
  };
  TrainingModel training(model, options, AdamW{});
  training.step(samples(2, false));
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines.back().find("micro-batches per replica done"), std::string::npos) << lines.back();
  const Tensor newest = model.weight(weight);
  EXPECT_TRUE(same_bits(seen, newest));
}

// The run of the inference model reads the weights back from the training model that has the log.
TEST(LoggedModel, D14_MayBeCalledByItsLogAtTheEndOfAnotherModelsCall) {
  const Model model = plain_model();
  std::vector<std::string> lines;
  std::function<void()> at_line;
  Options options = options_for(2, 1, 1);
  InferenceModel serving(model, options);
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [&](std::string_view line) {
    lines.emplace_back(line);
    if (at_line) at_line();
  };
  TrainingModel training(model, options, AdamW{});
  training.step(samples(2, false));
  lines.clear();
  const auto inputs = samples(2, false);
  at_line = [&] {
    training.step(inputs);
    serving.run({inputs[0]});
  };
  EXPECT_EQ(serving.run({inputs[0]}).outputs.size(), 1U);
  EXPECT_EQ(lines.size(), 1U) << "what the log calls tells it no more";
  EXPECT_EQ(training.updates(), 2U);
}

}  // namespace
}  // namespace penstock::testing
