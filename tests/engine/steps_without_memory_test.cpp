// In these tests any one allocation of a step fails on the host's thread. The error and updates()
// then say how many updates were done, and the model goes on from there.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/joined_results.hpp"
#include "penstock/error.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/everything_trained.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/without_memory.hpp"

namespace penstock::testing {
namespace {

// `per_update` and `remainder` are numbers of samples.
constexpr std::int64_t per_update = 8, remainder = 6;

std::vector<Tensor> rows(const std::vector<Tensor>& tensors, std::int64_t begin) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) result.push_back(tensor.rows(begin, tensor.shape()[0]));
  return result;
}

/// A Training has a training whose steps have two whole updates at most.
struct Training {
  explicit Training(std::int64_t ipu_memory_bytes = 0, bool trace = false)
      : training(model, options(ipu_memory_bytes, trace), AdamW{.learning_rate = 0.1}) {}

  static Options options(std::int64_t ipu_memory_bytes, bool trace) {
    Options options = options_for(4, 2, 2);
    options.topology.ipu_memory_bytes = ipu_memory_bytes;
    options.runtime.trace = trace;
    return options;
  }

  /// Makes a whole and a short step more, so that a wrong optimizer's state would show, and returns
  /// everything that was trained.
  TensorsByName after_more() {
    training.step(samples(2 * per_update, true, 2));
    training.step(samples(remainder, true, 3));
    return everything_trained(model, training);
  }

  Model model = tied_model();
  TrainingModel training;
};

/// A Start says how a training begins before the step of a test.
struct Start {
  std::int64_t ipu_memory_bytes = 0;  // This is 0 if there is enough memory for all plans.
  bool trace = false;
  // These are the numbers of samples of the steps before the step of the test.
  std::vector<std::int64_t> steps = {};

  Training training() const {
    Training result(ipu_memory_bytes, trace);
    for (const std::int64_t count : steps) result.training.step(samples(count, true));
    return result;
  }
};

/// Expects that the text of `error` says how many of two updates were done, unless there was no
/// memory for that text.
void expect_told(const Error& error, std::uint64_t done) {
  const std::string text = error.what();
  EXPECT_EQ(error.code(), Errc::out_of_memory) << text;
  if (text == "not enough memory" || text == "TrainingModel::step: not enough memory") return;
  const std::string expected = "; the step has done " + std::to_string(done) + " of 2 updates";
  EXPECT_TRUE(text.ends_with(expected)) << text;
}

/// Makes a step of a whole and a short update while allocation number `failing` fails, and then
/// does the updates that are left. Returns how the step has ended.
CallOutcome goes_on(Training& disturbed, const std::vector<Tensor>& data, std::int64_t failing) {
  TrainingModel& training = disturbed.training;
  const std::uint64_t before = training.updates();
  const CallOutcome outcome = call_without_memory(failing, [&] {
    try {
      training.step(data);
    } catch (const Error& error) {
      expect_told(error, training.updates() - before);
      throw;
    }
  });
  EXPECT_FALSE(outcome.raw_exception);
  const std::uint64_t done = training.updates() - before;
  if (done < 2) training.step(rows(data, static_cast<std::int64_t>(done) * per_update));
  return outcome;
}

void expect_to_go_on(const Start& start) {
  const std::vector<Tensor> data = samples(per_update + remainder, true);
  Training undisturbed = start.training();
  undisturbed.training.step(data);
  const TensorsByName expected = undisturbed.after_more();
  std::int64_t refused = 0;
  for (std::int64_t failing = 1;; ++failing) {
    SCOPED_TRACE("allocation " + std::to_string(failing));
    Training disturbed = start.training();
    const CallOutcome outcome = goes_on(disturbed, data, failing);
    refused += outcome.refusal ? 1 : 0;
    EXPECT_EQ(disturbed.training.updates(), undisturbed.training.updates() - 3);
    ASSERT_EQ(first_difference(disturbed.after_more(), expected), "");
    if (!outcome.reached) break;
    ASSERT_LT(failing, 20000);
  }
  EXPECT_GE(refused, 1);
}

std::int64_t enough_for_one() {
  return Training().training.stage_reports().at(0).peak_bytes;
}

TEST(StepsWithoutMemory, SayHowManyUpdatesTheyHaveDoneAndGoOnFromThere) {
  for (const bool trace : {false, true}) expect_to_go_on({.trace = trace, .steps = {remainder}});
}

TEST(StepsWithoutMemory, NeedNoneToReturnWhatTheirOneSectionHasReturned) {
  Training training;
  std::vector<SectionResult> sections;
  sections.push_back({per_update, training.training.step(samples(per_update, true))});
  const std::uint64_t before = heap_allocations();
  const StepResult result = joined(std::move(sections), {}, true);
  EXPECT_EQ(heap_allocations(), before);
  EXPECT_FALSE(result.outputs.empty());
}

TEST(StepsWithoutMemory, GoOnWherePlansTakeTurnsOnTheIpus) {
  expect_to_go_on({.ipu_memory_bytes = enough_for_one(), .steps = {remainder, 2 * per_update}});
}

TEST(StepsWithoutMemory, GoOnWhereTheyMakeTheirPlan) {
  expect_to_go_on({});
}

}  // namespace
}  // namespace penstock::testing
