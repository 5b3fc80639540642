// These tests check that a model that records what runs keeps a limited number of events, however
// long nobody takes them.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/small_models.hpp"

namespace penstock::testing {
namespace {

/// This is the number of events of a call: two stages with a G of 2 and one update have ten.
constexpr std::size_t per_call = 2 * (2 + 2 + 1);

Options recording(std::int64_t events) {
  Options options = options_for(2, 2, 1);
  options.runtime.trace = true;
  options.runtime.trace_events = events;
  return options;
}

TEST(TraceLimit, KeepsTheNewestEventsAndCountsTheOthers) {
  constexpr std::size_t limit = 25, calls = 6;
  TrainingModel training(plain_model(), recording(limit));
  for (std::size_t call = 0; call < calls; ++call) {
    training.step(samples(4, false));
    EXPECT_FALSE(training.last_call().outputs.empty()) << "each call fits";
  }
  const std::vector<TraceEvent> events = training.take_trace();
  EXPECT_EQ(events.size(), limit);
  EXPECT_EQ(training.dropped_events(), calls * per_call - limit);
  EXPECT_TRUE(std::ranges::is_sorted(events, {}, &TraceEvent::begin_ns));
  // The last two calls and a half have micro-batches 6 to 11.
  for (const TraceEvent& event : events) EXPECT_GE(event.micro_batch, 6);
  EXPECT_EQ(std::ranges::max(events, {}, &TraceEvent::micro_batch).micro_batch, 11);
  EXPECT_TRUE(training.take_trace().empty());
}

TEST(TraceLimit, DropsNothingOfATraceThatIsTakenInTime) {
  TrainingModel training(plain_model(), recording(per_call));
  for (int call = 0; call < 3; ++call) {
    training.step(samples(4, false));
    EXPECT_EQ(training.take_trace().size(), per_call);
  }
  EXPECT_EQ(training.dropped_events(), 0U);
}

TEST(TraceLimit, CountsShortUpdatesAndThoseOfForgottenPlansToo) {
  constexpr std::size_t limit = 30;
  std::size_t all = 0;
  Options options = recording(1 << 20);
  options.batch_size = 20;
  TrainingModel unlimited(plain_model(), options);
  options.runtime.trace_events = limit;
  TrainingModel limited(plain_model(), options);
  // There are more sizes of calls than plans that a model keeps.
  for (const std::int64_t count : {3, 5, 7, 9, 11, 13, 17, 37, 40, 39}) {
    unlimited.step(samples(count, false));
    limited.step(samples(count, false));
    all += unlimited.take_trace().size();
  }
  EXPECT_EQ(limited.take_trace().size(), limit);
  EXPECT_EQ(limited.dropped_events(), all - limit);
  EXPECT_EQ(unlimited.dropped_events(), 0U);
}

TEST(TraceLimit, HoldsWithinOneCallOfWhichTheReportTellsTheTimeAlone) {
  Options options = recording(16);
  options.device_iterations = 8;
  TrainingModel training(plain_model(), options);
  training.step(samples(4 * 8, false));
  EXPECT_GT(training.last_call().seconds, 0);
  EXPECT_TRUE(training.last_call().inputs.empty());
  EXPECT_EQ(training.last_call().on_ipus.most, 0);
  EXPECT_EQ(training.take_trace().size(), 16U);
  EXPECT_EQ(training.dropped_events(), 8 * per_call - 16);
}

TEST(TraceLimit, HoldsInInferenceToo) {
  Options options = options_for(2, 1, 3);
  options.runtime.trace = true;
  options.runtime.trace_events = 7;
  InferenceModel serving(plain_model(), options);
  std::size_t all = 0;
  for (const std::int64_t count : {6, 5, 6, 1, 3}) {
    serving.run({samples(count, false)[0]});
    all += 2 * static_cast<std::size_t>((count + 1) / 2);
  }
  serving.detach();
  EXPECT_EQ(serving.take_trace().size(), 7U);
  EXPECT_EQ(serving.dropped_events(), all - 7);
}

}  // namespace
}  // namespace penstock::testing
