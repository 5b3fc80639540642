// A step that fails, wherever in a window and whatever the schedule, leaves what a run has that
// never saw the window: weights, optimizer state, buffers of every replica and random numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/values/memory.hpp"
#include "penstock/penstock.hpp"
#include "tests/engine/failing_steps.hpp"
#include "tests/engine/held_kernel.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::testing::failing_steps {
namespace {

/// Returns `samples` with a label in row `row` that does not exist.
std::vector<Tensor> spoilt(const std::vector<Tensor>& samples, std::int64_t row) {
  const auto fine = samples[1].as<std::int64_t>();
  std::vector<std::int64_t> labels(fine.begin(), fine.end());
  labels[static_cast<std::size_t>(row)] = 12;
  return {samples[0], Tensor(samples[1].shape(), std::span<const std::int64_t>(labels))};
}

/// Makes a step by `fail`, which fails, on `during`, between two steps that do not. Expects that
/// the model is then what another one is that has made the same updates.
void expect_to_go_on(const Options& options, const std::vector<Tensor>& during,
                     const std::function<std::string(TrainingModel&)>& fail) {
  const int replicas = options.topology.replication_factor;
  const std::int64_t window = std::int64_t{batch} * accumulation * replicas;
  const std::int64_t count = during[0].shape()[0];
  const auto before = samples(updates * window, 1), after = samples(updates * window, 5);
  Training failing(options), undisturbed(options);
  for (Training* const one : {&failing, &undisturbed}) one->steps.step(before);
  const auto text = fail(failing.steps);
  const auto done = static_cast<std::int64_t>(failing.steps.updates() - updates);
  const std::int64_t asked = (count + window - 1) / window;
  EXPECT_LT(done, asked);
  EXPECT_NE(text.find("; the step has done " + std::to_string(done) + " of " +
                      std::to_string(asked) + " update"),
            std::string::npos)
      << text;
  if (done > 0)
    undisturbed.steps.step({during[0].rows(0, done * window), during[1].rows(0, done * window)});
  expect_same(failing, undisturbed, replicas);
  for (int again = 0; again < 2; ++again) {
    const double of_failing = failing.steps.step(after).mean_loss;
    EXPECT_EQ(of_failing, undisturbed.steps.step(after).mean_loss);
    expect_same(failing, undisturbed, replicas);
  }
}

/// Makes a step on `during` with a label that does not exist in row `row`.
void expect_to_go_on_after_label(const Options& options, const std::vector<Tensor>& during,
                                 std::int64_t row) {
  SCOPED_TRACE("row " + std::to_string(row) + " of " + std::to_string(during[0].shape()[0]));
  const std::int64_t window =
      std::int64_t{batch} * accumulation * options.topology.replication_factor;
  expect_to_go_on(options, during, [&](TrainingModel& steps) {
    const std::uint64_t before = steps.updates();
    const auto text = refusal(Errc::stage_failed, [&] { steps.step(spoilt(during, row)); });
    EXPECT_NE(text.find("label 12 at sample "), std::string::npos) << text;
    EXPECT_EQ(steps.updates() - before, static_cast<std::uint64_t>(row / window));
    return text;
  });
}

/// Makes a step on `during` in which run number `run` of the layers of `fuse` throws.
void expect_to_go_on_after_run(const Options& options, const std::vector<Tensor>& during,
                               Fuse& fuse, int run) {
  SCOPED_TRACE(std::string(&fuse == &forward ? "forward" : "backward") + " run " +
               std::to_string(run));
  expect_to_go_on(options, during, [&](TrainingModel& steps) {
    fuse.left = run;
    const auto text = refusal(Errc::stage_failed, [&] { steps.step(during); });
    fuse.left = -1;
    EXPECT_NE(text.find("no luck"), std::string::npos) << text;
    return text;
  });
}

class FailedSteps : public ::testing::TestWithParam<Setting> {};

TEST_P(FailedSteps, WhereverTheyFailLeaveWhatTheLastUpdateHasMade) {
  const Options options = options_for(GetParam());
  const std::int64_t micro_batches =
      std::int64_t{updates} * accumulation * options.topology.replication_factor;
  const auto during = samples(micro_batches * batch, 3);
  for (std::int64_t micro_batch = 0; micro_batch < micro_batches; ++micro_batch)
    expect_to_go_on_after_label(options, during, micro_batch * batch + micro_batch % batch);
  // Each block has a layer that runs once for each micro-batch.
  for (int run = 0; run < 2 * micro_batches; ++run)
    for (Fuse* const fuse : {&forward, &backward})
      expect_to_go_on_after_run(options, during, *fuse, run);
}

// Plans of their own run the samples that fill no window of all replicas.
TEST_P(FailedSteps, WithoutWholeWindowsLeaveWhatTheLastUpdateHasMade) {
  const Options options = options_for(GetParam());
  const std::int64_t window =
      std::int64_t{batch} * accumulation * options.topology.replication_factor;
  for (const std::int64_t count : {window - batch, window - 1, window + batch, window + 3})
    for (const std::int64_t row : {std::int64_t{0}, count / 2, count - 1})
      expect_to_go_on_after_label(options, samples(count, 3), row);
}

INSTANTIATE_TEST_SUITE_P(OfEverySetting, FailedSteps, ::testing::ValuesIn(settings()),
                         [](const auto& instance) { return test_name(instance.param); });

// The short step has a plan of its own, with one replica, whose first micro-batch stalls.
TEST(StalledSteps, LeaveTheBuffersOfEveryReplicaToBeRead) {
  Options options = options_for({.name = "replicas", .change = [](Options& replicated) {
                                   replicated.topology.replication_factor = 2;
                                   replicated.runtime.stall_seconds = 0.3;
                                   replicated.recovery.attempts = 0;
                                 }});
  constexpr int whole = updates * accumulation * 2;
  const Model model = network();
  const HeldKernel kernel(model, "cross_entropy", whole);
  TrainingModel steps(model, options, Adam{.learning_rate = 0.01});
  steps.step(samples(whole * batch, 1));
  const std::string mean = "norm.running_mean";
  const Tensor first = steps.buffer(mean, 0), second = steps.buffer(mean, 1);
  EXPECT_FALSE(same_bits(first, second));
  EXPECT_NE(refusal(Errc::stalled, [&] { steps.step(samples(batch, 3)); }), "accepted");
  EXPECT_TRUE(same_bits(steps.buffer(mean, 1), second));
  kernel.let_go();
  EXPECT_TRUE(same_bits(steps.buffer(mean, 0), first));
}

// What a thousand failures leave behind would show in the threads and in the memory for tensors.
TEST(ManyFailedSteps, LeaveNothingBehind) {
  const Options options = options_for(settings().front());
  const auto fine = samples(std::int64_t{updates} * batch * accumulation, 1);
  const auto bad = spoilt(fine, 3);
  Training training(options);
  const auto fail = [&](int times) {
    for (int i = 0; i < times; ++i)
      ASSERT_NE(refusal(Errc::stage_failed, [&] { training.steps.step(bad); }), "accepted");
  };
  fail(2);
  training.steps.step(fine);
  const std::size_t threads = thread_count();
  const std::uint64_t bytes = memory_counters().bytes_live;
  fail(sanitized ? 200 : 1000);
  training.steps.step(fine);
  EXPECT_TRUE(threads_fall_to(threads));
  EXPECT_EQ(memory_counters().bytes_live, bytes);
  EXPECT_EQ(training.steps.updates(), 2U * updates);
}

}  // namespace
}  // namespace penstock::testing::failing_steps
