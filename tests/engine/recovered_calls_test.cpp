// A call goes on by itself after a failure that its data is not at fault for. In these tests, a
// layer stands still until the engine has given up the IPU that runs it. What the call returns and
// leaves has to have the bits of a call in which nothing has stood still.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/failing_steps.hpp"
#include "tests/engine/held_kernel.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::testing::failing_steps {
namespace {

/// Holds one run of the loss until the failed actors are told to end, among which the supervisor
/// has a thread of its own. Meanwhile there are `others` other supervisors in the process.
class StandingStill {
 public:
  StandingStill(const Model& model, int run, std::string_view op = "cross_entropy", int others = 0)
      : kernel_(model, op, run), freeing_([this, others] {
          EXPECT_TRUE(kernel_.await());
          EXPECT_TRUE(threads_named_fall_to("supervisor", others));
          kernel_.let_go();
        }) {}
  ~StandingStill() { freeing_.join(); }
  StandingStill(const StandingStill&) = delete;
  StandingStill& operator=(const StandingStill&) = delete;

 private:
  HeldKernel kernel_;
  std::thread freeing_;
};

Options impatient(Options options) {
  options.runtime.stall_seconds = 0.2;
  options.recovery.wait_seconds = 60;
  return options;
}

TEST(RecoveredSteps, AreNoneIfAnIpuTakesTooLong) {
  Options options = impatient(options_for(settings().front()));
  options.recovery.wait_seconds = 0.01;
  const Model model = network();
  const HeldKernel held(model, "cross_entropy", accumulation + 1);
  TrainingModel steps(model, options, Adam{.learning_rate = 0.01});
  const auto some = samples(std::int64_t{updates} * accumulation * batch, 3);
  const auto text = refusal(Errc::stalled, [&] { steps.step(some); });
  EXPECT_NE(text.find("; the step has done at least 1 of 2 updates"), std::string::npos) << text;
  held.let_go();
}

/// Expects that a step in which run number `run` of the loss stands still, on `during`, gives the
/// same as one in which nothing does. The model has `others` other plans on its IPUs. Returns the
/// report on the step.
CallReport expect_to_recover(const Options& options, const std::vector<Tensor>& during, int run,
                             int others = 0) {
  const int replicas = options.topology.replication_factor;
  const std::int64_t window = std::int64_t{batch} * accumulation * replicas;
  const auto before = samples(updates * window, 1);
  const Model model = network();
  const StandingStill still(model, updates * accumulation * replicas + run, "cross_entropy",
                            others);
  Training failing(model, impatient(options));
  failing.steps.step(before);
  EXPECT_TRUE(failing.steps.last_call().recoveries.empty());
  const StepResult result = failing.steps.step(during);
  Training undisturbed(options);
  undisturbed.steps.step(before);
  const StepResult expected = undisturbed.steps.step(during);
  EXPECT_EQ(result.mean_loss, expected.mean_loss);
  EXPECT_TRUE(same_bits(result.loss, expected.loss));
  const CallReport report = failing.steps.last_call();
  EXPECT_EQ(report.recoveries.size(), 1U);
  expect_same(failing, undisturbed, replicas);
  for (Training* const one : {&failing, &undisturbed}) one->steps.step(before);
  expect_same(failing, undisturbed, replicas);
  return report;
}

class RecoveredSteps : public ::testing::TestWithParam<Setting> {};

TEST_P(RecoveredSteps, HaveTheBitsOfStepsThatHaveNotFailed) {
  Options options = options_for(GetParam());
  options.output.mode = OutputMode::all;
  const int replicas = options.topology.replication_factor;
  const auto during = samples(std::int64_t{updates} * accumulation * replicas * batch, 3);
  const CallReport report =
      expect_to_recover(options, during, static_cast<int>(accumulation * replicas) + 1);
  ASSERT_FALSE(report.recoveries.empty());
  const Recovery& recovery = report.recoveries.front();
  EXPECT_EQ(recovery.updates, updates + 1);
  EXPECT_EQ(recovery.micro_batch, accumulation);
  EXPECT_GT(recovery.seconds, 0);
  EXPECT_LT(recovery.seconds, report.seconds);
  EXPECT_NE(recovery.failure.find("nothing has moved for"), std::string::npos) << recovery.failure;
}

INSTANTIATE_TEST_SUITE_P(OfEverySetting, RecoveredSteps, ::testing::ValuesIn(settings()),
                         [](const auto& instance) { return test_name(instance.param); });

// The last samples of the step have a plan of their own, whose first micro-batch stands still.
TEST(RecoveredShortSteps, CountMicroBatchesFromTheBeginningOfTheStep) {
  const CallReport report =
      expect_to_recover(options_for(settings().front()),
                        samples(accumulation * batch + batch + 1, 3), accumulation, 1);
  ASSERT_FALSE(report.recoveries.empty());
  EXPECT_EQ(report.recoveries.front().micro_batch, accumulation);
  EXPECT_EQ(report.recoveries.front().updates, updates + 1);
}

TEST(RecoveredSteps, AreInTheLogAndInTheTrace) {
  Options options = impatient(options_for(settings().front()));
  std::vector<std::string> lines;
  options.runtime.log = [&](std::string_view line) { lines.emplace_back(line); };
  options.runtime.log_level = LogLevel::warning;
  options.runtime.trace = true;
  const Model model = network();
  const StandingStill still(model, 1);
  TrainingModel steps(model, options, Adam{.learning_rate = 0.01});
  const auto some = samples(std::int64_t{updates} * accumulation * batch, 3);
  lines.clear();
  steps.step(some);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].find("nothing has moved for"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("\"network\": the call goes on after its failure with other actors, from "
                          "update 0 and its micro-batch 0; it took "),
            std::string::npos)
      << lines[1];
  EXPECT_TRUE(steps.last_call().outputs.empty()) << "parts of the call were done twice";
  std::vector<std::int64_t> replayed_from;
  steps.step(some);
  for (const HostEvent& event : steps.profile().host_events)
    if (event.actor == HostActor::supervisor) replayed_from.push_back(event.micro_batch);
  EXPECT_EQ(replayed_from, std::vector<std::int64_t>{0});
  const CallReport report = steps.last_call();
  EXPECT_TRUE(report.recoveries.empty());
  ASSERT_EQ(report.inputs.size(), 2U);
  EXPECT_EQ(report.inputs[0].seconds.size(), static_cast<std::size_t>(updates * accumulation));
}

// The second of two runs that stand still comes after the only attempt that the call has.
TEST(RecoveredSteps, AreNoneOnceAllAttemptsAreUsedUp) {
  Options options = impatient(options_for(settings().front()));
  options.recovery.attempts = 1;
  const Model model = network();
  const StandingStill first(model, 1);
  const HeldKernel second(model, "cross_entropy", 3);
  TrainingModel steps(model, options, Adam{.learning_rate = 0.01});
  const auto some = samples(std::int64_t{updates} * accumulation * batch, 3);
  EXPECT_NE(refusal(Errc::stalled, [&] { steps.step(some); }), "accepted");
  EXPECT_EQ(steps.updates(), 0U);
  second.let_go();
  while (refusal(Errc::stalled, [&] { steps.attach(); }) != "accepted") std::this_thread::yield();
  Training undisturbed(options_for(settings().front()));
  steps.step(some);
  undisturbed.steps.step(some);
  expect_same_weights(model, undisturbed.model);
}

Model classifier() {
  Model model("classifier", 5);
  const Value x = model.input("x", {8});
  model.output("y", model.softmax(model.tanh(model.linear("fc", x, 4))));
  return model;
}

TEST(RecoveredRuns, ReturnWhatRunsReturnThatHaveNotFailed) {
  const Tensor x = uniform({7, 8}, 3);
  const Options options{.batch_size = 1, .device_iterations = 7};
  const Tensor y = InferenceModel(classifier(), options).run(std::vector{x}).output("y");
  for (const int run : {0, 4, 6}) {
    const Model model = classifier();
    const StandingStill still(model, run, "tanh");
    InferenceModel runs(model, impatient(options));
    for (int call = 0; call < 2; ++call) {
      EXPECT_TRUE(same_bits(runs.run(std::vector{x}).output("y"), y));
      EXPECT_EQ(runs.last_call().recoveries.size(), call == 0 ? 1U : 0U);
    }
  }
}

// The rows of earlier calls are lost with the actors that keep them.
TEST(RecoveredRuns, AreNoneOfModelsThatKeepState) {
  Model model("decoder", 1);
  const Value row = model.input("x", {1, 4}), position = model.input("at", {}, DType::i64);
  model.output("y",
               model.tanh(model.cached_attention("a", row, row, row, position, {.length = 4})));
  const StandingStill still(model, 1, "tanh");
  InferenceModel decoder(model, impatient({.batch_size = 1}));
  const auto run_at = [&](std::int64_t at) {
    return decoder.run({uniform({1, 1, 4}, 1), Tensor({1}, std::vector<std::int64_t>{at})});
  };
  const Tensor first = run_at(0).output("y");
  EXPECT_NE(refusal(Errc::stalled, [&] { run_at(1); }), "accepted");
  std::string text;
  do text = refusal(Errc::stalled, [&] { EXPECT_TRUE(same_bits(run_at(0).output("y"), first)); });
  while (text != "accepted");
}

}  // namespace
}  // namespace penstock::testing::failing_steps
