// These tests ask a call to stop at many points of its life. A call that has stopped has done whole
// windows, equally many in every replica, and the model goes on from there as if no more had been
// asked for.

#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>
#include <vector>

#include "penstock/error.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/small_engine.hpp"

namespace penstock::actors {
namespace {

using testing::DeterministicRun;
using testing::run_step;
using testing::same_bits;
using testing::SmallEngine;
using testing::SmallEngineOptions;

constexpr std::int64_t cancelled_windows = 4;

/// A CancelledCalls makes calls of one engine on consecutive windows of the same samples.
class CancelledCalls {
 public:
  explicit CancelledCalls(const SmallEngineOptions& options)
      : engine_(options), samples_(engine_.inputs(cancelled_windows)) {}

  /// Makes a step on the windows [begin, end), and asks the step to stop once `stop_after` messages
  /// have been handled. Returns whether all of the windows were done.
  bool step(std::int64_t begin, std::int64_t end, std::size_t stop_after, std::uint64_t seed) {
    std::stop_source stop;
    PipelineRuntime& runtime = engine_.runtime();
    runtime.begin_step(rows(begin, end), engine_.micro_batches(end - begin), stop.get_token());
    DeterministicRun order(runtime.system(), seed);
    order.steps(stop_after);
    stop.request_stop();
    order.run();
    try {
      runtime.finish_step();
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::cancelled) << error.what();
      return false;
    }
  }
  void step(std::int64_t begin, std::int64_t end) {
    if (begin < end)
      run_step(engine_.runtime(), rows(begin, end), engine_.micro_batches(end - begin));
  }

  std::int64_t done() {
    return engine_.options().training
               ? static_cast<std::int64_t>(engine_.runtime().updates())
               : engine_.runtime().micro_batches_begun() / engine_.micro_batches(1);
  }
  std::vector<Tensor> variables() { return engine_.runtime().read_variables(); }
  std::vector<Tensor> state() {
    std::vector<Tensor> tensors;
    for (const auto& of_variable : engine_.runtime().read_optimizer().variables)
      tensors.insert(tensors.end(), of_variable.begin(), of_variable.end());
    return tensors;
  }

 private:
  std::vector<Tensor> rows(std::int64_t begin, std::int64_t end) const {
    const std::int64_t rows_of_one = samples_[0].shape()[0] / cancelled_windows;
    std::vector<Tensor> parts;
    for (const Tensor& tensor : samples_)
      parts.push_back(tensor.rows(begin * rows_of_one, end * rows_of_one));
    return parts;
  }

  SmallEngine engine_;
  std::vector<Tensor> samples_;
};

/// Returns the variables of a training after 0, 1, ..., `cancelled_windows` windows.
std::vector<std::vector<Tensor>> variables_after_each(const SmallEngineOptions& options) {
  std::vector<std::vector<Tensor>> result;
  for (std::int64_t done = 0; done <= cancelled_windows; ++done) {
    CancelledCalls calls(options);
    calls.step(0, done);
    result.push_back(calls.variables());
  }
  return result;
}

/// Stops calls after 0, `stride`, 2 * `stride`, ... messages, until a call is done before it is
/// asked to stop. Checks that each call has done whole windows, and that the rest can follow.
void expect_whole_windows(const SmallEngineOptions& options, std::size_t stride) {
  const auto expected = variables_after_each(options);
  std::vector<bool> stopped_at(cancelled_windows + 1);
  for (std::size_t point = 0;; point += stride) {
    SCOPED_TRACE("after message " + std::to_string(point));
    CancelledCalls calls(options);
    const bool all = calls.step(0, cancelled_windows, point, point);
    const std::int64_t done = calls.done();
    ASSERT_LE(done, cancelled_windows);
    EXPECT_EQ(all, done == cancelled_windows);
    EXPECT_TRUE(same_bits(calls.variables(), expected[static_cast<std::size_t>(done)]));
    stopped_at[static_cast<std::size_t>(done)] = true;
    calls.step(done, cancelled_windows);
    EXPECT_EQ(calls.done(), cancelled_windows);
    ASSERT_TRUE(same_bits(calls.variables(), expected[cancelled_windows]));
    if (all) break;
  }
  EXPECT_TRUE(stopped_at[0]);
  EXPECT_GT(std::ranges::count(stopped_at, true), 2) << "it stopped in between, too";
}

TEST(PipelineCancel, DoesWholeWindowsWhereverATrainingIsStopped) {
  for (const char* schedule : {"grouped", "interleaved", "sequential"})
    for (const std::int64_t replicas : {1, 2})
      expect_whole_windows({.schedule = schedule, .replicas = replicas, .gradient_accumulation = 5},
                           7);
}

TEST(PipelineCancel, DoesWholeWindowsWhereWeightsAndStateAreOffTheIpus) {
  expect_whole_windows({.tied = true,
                        .replicas = 2,
                        .gradient_accumulation = 4,
                        .max_grad_norm = 0.05,
                        .offload = true,
                        .shards = true},
                       23);
  expect_whole_windows({.schedule = "sequential",
                        .phased = graph::PhaseRequest{.turn = 4},
                        .gradient_accumulation = 4,
                        .offload = true},
                       13);
}

TEST(PipelineCancel, LeavesTheStateOfTheWindowsThatWereDone) {
  for (const std::size_t point : {40U, 160U, 320U}) {
    CancelledCalls cut({}), whole({});
    cut.step(0, cancelled_windows, point, 1);
    whole.step(0, cut.done());
    EXPECT_TRUE(same_bits(cut.state(), whole.state()));
  }
}

TEST(PipelineCancel, RunsInferenceOnSomeMicroBatchesAndThenOnAllOfAnotherCall) {
  for (const bool phased : {false, true}) {
    SmallEngineOptions options{.training = false, .replicas = 2};
    if (phased) {
      options.schedule = "sequential";
      options.phased = graph::PhaseRequest{.turn = 2};
    }
    bool stopped = false;
    for (std::size_t point = 0; point < 60; point += 3) {
      SmallEngine engine(options), undisturbed(options);
      std::stop_source stop;
      engine.runtime().begin_step(engine.inputs(cancelled_windows), cancelled_windows,
                                  stop.get_token());
      DeterministicRun order(engine.runtime().system(), point);
      order.steps(point);
      stop.request_stop();
      order.run();
      try {
        engine.runtime().finish_step();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::cancelled) << error.what();
        stopped = true;
      }
      EXPECT_TRUE(same_bits(engine.step(cancelled_windows), undisturbed.step(cancelled_windows)));
    }
    EXPECT_TRUE(stopped);
  }
}

}  // namespace
}  // namespace penstock::actors
