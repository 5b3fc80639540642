// D14 of docs/reference.md: these tests check what the log of a host may do when it is told a line,
// and what becomes of the model if the log throws.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/training_model.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/short_call_models.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

Options told_to(std::function<void(std::string_view)> log, LogLevel level = LogLevel::debug) {
  Options options = with_limit(0);
  options.runtime.log = std::move(log);
  options.runtime.log_level = level;
  return options;
}

TEST(ToldHosts, D14_HearOfAFailureOnceOnTheThreadThatCalls) {
  for (const std::int64_t count : {full, remainder}) {
    const Model model = network();
    std::vector<std::string> lines;
    std::vector<std::thread::id> threads;
    Tensor seen;
    const auto log = [&](std::string_view line) {
      lines.emplace_back(line);
      threads.push_back(std::this_thread::get_id());
      seen = model.weight("fc.weight");
    };
    TrainingModel training(model, told_to(log, LogLevel::error));
    for (const std::int64_t fine : {full, remainder}) training.step(samples(fine));
    const Tensor trained = model.weight("fc.weight");
    const auto text = refusal(Errc::stage_failed, [&] { training.step(samples(count, 9)); });
    EXPECT_TRUE(same_bits(seen, trained));
    for (const std::int64_t next : {full, remainder}) training.step(samples(next));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(text, lines[0] + "; the step has done 0 of 1 update");
    EXPECT_EQ(threads, std::vector{std::this_thread::get_id()});
  }
}

TEST(ToldHosts, D14_HearFromWhichUpdateAModelGoesOn) {
  std::vector<std::string> lines;
  const auto log = [&](std::string_view line) { lines.emplace_back(line); };
  TrainingModel training(network(), told_to(log, LogLevel::info));
  training.step(samples(full));
  EXPECT_NE(refusal(Errc::stage_failed, [&] { training.step(samples(full, 9)); }), "accepted");
  training.step(samples(full));
  const auto is_told = [](const std::string& line) {
    return line.find(": goes on after its failure, from update 1, with other actors") !=
           std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(lines, is_told), 1);
}

std::string refusal_of_any(const auto& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

/// Returns a limit with which the plan for full calls takes all memory of the IPU.
std::int64_t enough_for_one() {
  return TrainingModel(network(), told_to({}), AdamW{}).stage_reports().at(0).peak_bytes;
}

/// Trains full and short steps, and calls `at_log`, if it is set, at every line of them.
Model trained(const std::function<void(TrainingModel&)>& at_log) {
  TrainingModel* model = nullptr;
  Options options = told_to([&](std::string_view) {
    if (model && at_log) at_log(*model);
  });
  options.topology.ipu_memory_bytes = enough_for_one();
  const Model weights = network();
  TrainingModel training(weights, options, AdamW{.learning_rate = 0.1});
  model = &training;
  for (const std::int64_t count : {full, remainder, full, remainder, remainder, full})
    training.step(samples(count));
  training.detach();
  return weights;
}

TEST(ToldHosts, D14_MayTakeTheIpusFromAnyPlanOfTheModel) {
  std::size_t log_lines = 0;
  const Model disturbed = trained([&](TrainingModel& training) {
    ++log_lines;
    training.buffer("norm.running_mean", 0);
    EXPECT_EQ(training.optimizer_state()[0].name, "step");
  });
  EXPECT_GT(log_lines, 20U);
  expect_same_weights(disturbed, trained({}));
}

TEST(ToldHosts, D14_MayHavePlansMadeAndForgotten) {
  TrainingModel* model = nullptr;
  std::uint64_t steps = 0;
  Options options = told_to([&](std::string_view line) {
    if (!model || line.find("compiled") == line.npos) return;
    for (std::int64_t count = 2; count < 8; ++count, ++steps) model->step(samples(count));
  });
  options.batch_size = 8;
  TrainingModel training(network(), options);
  model = &training;
  for (const std::int64_t count : {5, 6, 7, 5}) training.step(samples(count)), ++steps;
  EXPECT_GT(steps, 8U);
  EXPECT_EQ(training.updates(), steps);
}

TEST(ToldHosts, D14_FindTheNewestWeights) {
  const Model model = network();
  std::vector<Tensor> seen;
  bool armed = false;
  TrainingModel training(model, told_to([&](std::string_view) {
                           if (armed) seen.push_back(model.weight("fc.weight"));
                         }));
  training.step(samples(full));
  armed = true;
  const Tensor newest = model.weight("fc.weight");  // The log is told that the weights are read.
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_TRUE(same_bits(seen[0], newest));
}

TEST(ToldHosts, D14_ThatThrowHaveTheStepDone) {
  const auto run = [](bool throws) {
    bool armed = false;
    const Model weights = network();
    TrainingModel training(weights, told_to([&](std::string_view) {
                             if (std::exchange(armed, false)) throw std::runtime_error("full");
                           }),
                           AdamW{.learning_rate = 0.1});
    training.step(samples(full));
    armed = throws;
    EXPECT_EQ(refusal_of_any([&] { training.step(samples(remainder)); }),
              throws ? "full" : "accepted");
    training.step(samples(full));
    EXPECT_EQ(training.updates(), 3U);
    return weights;
  };
  expect_same_weights(run(true), run(false));
}

}  // namespace
}  // namespace penstock::testing
