// These tests check what happens while a loader waits for data: the time is counted, a stall is
// explained, and a loader that is destroyed reads no more.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "graph/values/stopwatch.hpp"
#include "penstock/data_loader.hpp"
#include "tests/engine/numbered_batches.hpp"
#include "tests/support/numbered_streams.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock {
namespace {

using testing::numbered;
using testing::NumberedSamples;
using testing::Numbers;
using testing::numbers_of;
using testing::refusal;

/// A HeldUp has a dataset that does not return sample number `held` before `release` is counted
/// down.
struct HeldUp {
  explicit HeldUp(std::int64_t count, std::int64_t held = 0) : dataset(numbered(count)) {
    dataset->before_read = [this, held](std::int64_t sample) {
      if (sample != held || first_read.test_and_set()) return;
      begun.count_down();
      release.wait();
    };
  }

  std::shared_ptr<NumberedSamples> dataset;
  std::atomic_flag first_read;
  std::latch begun{1};
  std::latch release{1};
};

std::optional<Batch> next_patiently(DataLoader& loader) {
  for (;;) try {
      return loader.next();
    } catch (const Error& error) {
      if (error.code() != Errc::stalled) throw;
    }
}

TEST(DataLoaderWaits, SaysWhichWorkerAndSampleAStallIsAboutAndLosesNothing) {
  HeldUp held_up(8);
  DataLoader loader(held_up.dataset, 4, {.workers = 2, .buffered = 1, .timeout_seconds = 0.02});
  loader.start_epoch();
  held_up.begun.wait();
  const std::string text = refusal(Errc::stalled, [&] { loader.next(); });
  EXPECT_GT(loader.waited_seconds(), 0);
  EXPECT_EQ(text.find("data loader: no batch for 0.02 s: worker "), 0u) << text;
  EXPECT_NE(text.find(" has not finished reading sample 0"), std::string::npos) << text;
  EXPECT_NE(refusal(Errc::stalled, [&] { loader.next(); }), "accepted");
  held_up.release.count_down();
  EXPECT_EQ(numbers_of(*next_patiently(loader)), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(numbers_of(*next_patiently(loader)), (Numbers{4, 5, 6, 7}));
}

// The only worker begins with sample 4 once it has handed over the samples before, which make a
// batch.
TEST(DataLoaderWaits, E2_CountsNoWaitForABatchThatIsThere) {
  HeldUp held_up(8, 4);
  DataLoader loader(held_up.dataset, 4, {.workers = 1});
  loader.start_epoch();
  held_up.begun.wait();
  EXPECT_EQ(numbers_of(*loader.next()), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(loader.waited_seconds(), 0);
  held_up.release.count_down();
  EXPECT_EQ(numbers_of(*loader.next()), (Numbers{4, 5, 6, 7}));
}

TEST(DataLoaderWaits, E2_CountsEveryWaitForABatchThatIsReadWhenItIsAskedFor) {
  DataLoader loader(numbered(8), 4, {.mode = LoaderMode::sync});
  double waited = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    loader.start_epoch();
    EXPECT_EQ(loader.waited_seconds(), waited);
    while (loader.next()) {
      EXPECT_GT(loader.waited_seconds(), waited);
      waited = loader.waited_seconds();
    }
    EXPECT_EQ(loader.waited_seconds(), waited) << "there is nothing to wait for";
  }
}

TEST(DataLoaderWaits, AreRecordedBesideWhatTheReadersDid) {
  const auto count = [](const std::vector<HostEvent>& events, HostActor actor) {
    return std::ranges::count(events, actor, &HostEvent::actor);
  };
  DataLoader loader(numbered(8), 4, {.mode = LoaderMode::sync, .workers = 2, .trace_events = 100});
  loader.start_epoch();
  while (loader.next()) continue;
  const std::vector<HostEvent> events = loader.take_trace();
  EXPECT_EQ(count(events, HostActor::reader), 2 * 2) << "each reader reads a half of two batches";
  EXPECT_EQ(count(events, HostActor::loader), 2);
  double waited = 0;
  std::vector<std::int64_t> free_from(2, 0);  // A reader reads one part of a batch at a time.
  for (const HostEvent& event : events) {
    EXPECT_LE(event.begin_ns, event.end_ns);
    EXPECT_EQ(event.reader >= 0, event.actor == HostActor::reader);
    if (event.actor == HostActor::loader) {
      waited += static_cast<double>(event.end_ns - event.begin_ns) * 1e-9;
      continue;
    }
    std::int64_t& from = free_from.at(static_cast<std::size_t>(event.reader));
    EXPECT_GE(event.begin_ns, std::exchange(from, event.end_ns));
  }
  // Each wait is recorded a moment after it was counted.
  EXPECT_GE(waited, loader.waited_seconds() - 1e-9);
  EXPECT_TRUE(loader.take_trace().empty()) << "each event is returned once";
}

TEST(DataLoaderWaits, AreRecordedOfStreamsToo) {
  DataLoader loader(std::make_shared<testing::NumberedStreams>(8), 4,
                    {.workers = 2, .trace_events = 100});
  while (loader.next()) continue;
  loader.close();
  const std::vector<HostEvent> events = loader.take_trace();
  for (const int reader : {0, 1})
    EXPECT_GT(std::ranges::count(events, reader, &HostEvent::reader), 0) << reader;
}

TEST(DataLoaderWaits, AreRecordedOfReadsThatFail) {
  const auto fail = [](std::int64_t) { throw std::runtime_error("unreadable"); };
  const auto events_of = [](DataLoader& loader) {
    EXPECT_NE(refusal(Errc::invalid_data, [&] { loader.next(); }), "accepted");
    loader.close();
    return std::ranges::count(loader.take_trace(), HostActor::reader, &HostEvent::actor);
  };
  const auto samples = numbered(8);
  samples->before_read = fail;
  DataLoader of_samples(samples, 4, {.mode = LoaderMode::sync, .workers = 1, .trace_events = 100});
  of_samples.start_epoch();
  EXPECT_GT(events_of(of_samples), 0);
  const auto streams = std::make_shared<testing::NumberedStreams>(8);
  streams->before_read = fail;
  DataLoader of_streams(streams, 4, {.workers = 1, .trace_events = 100});
  EXPECT_GT(events_of(of_streams), 0);
}

TEST(DataLoaderWaits, AreRecordedOnlyIfAskedForAndOnlyTheNewestAreKept) {
  for (const std::int64_t most : {0, 3}) {
    DataLoader loader(numbered(40), 4, {.workers = 1, .trace_events = most});
    loader.start_epoch();
    while (loader.next()) continue;
    // The newest events are those of the second epoch, whose ten batches are read one by one.
    const std::int64_t end_ns = steady_ns();
    loader.start_epoch();
    while (loader.next()) continue;
    const std::vector<HostEvent> events = loader.take_trace();
    EXPECT_EQ(events.size(), static_cast<std::size_t>(most));
    for (const HostEvent& event : events) EXPECT_GE(event.end_ns, end_ns);
  }
  EXPECT_NE(
      refusal(Errc::invalid_argument, [] { DataLoaderOptions{.trace_events = -1}.validate(); })
          .find("data_loader.trace_events"),
      std::string::npos);
}

TEST(DataLoaderWaits, StopsReadingForAnEpochThatIsOver) {
  for (const int workers : {0, 1}) {
    HeldUp held_up(1000);
    DataLoader loader(held_up.dataset, 1000, {.workers = workers});
    loader.start_epoch();
    held_up.begun.wait();
    loader.start_epoch();
    held_up.release.count_down();
    EXPECT_EQ(numbers_of(*loader.next()).size(), 1000u);
    EXPECT_EQ(held_up.dataset->reads(), 1 + 1000);
  }
}

TEST(DataLoaderWaits, R2_5_EndsWhileASampleIsReadAndReadsNoOther) {
  HeldUp held_up(1000);
  auto loader =
      std::make_unique<DataLoader>(held_up.dataset, 1000, DataLoaderOptions{.workers = 1});
  loader->start_epoch();
  held_up.begun.wait();
  std::promise<int> ending;
  auto ended = std::async(std::launch::async, [&] {
    ending.set_value(testing::thread_number());
    loader.reset();
  });
  EXPECT_TRUE(testing::comes_to_wait(ending.get_future().get()));
  held_up.release.count_down();
  EXPECT_EQ(ended.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(held_up.dataset->reads(), 1);
}

TEST(DataLoaderWaits, R2_5_EndsWhileAllItMayHoldIsFullAndReadsNoMore) {
  for (const LoaderMode mode : {LoaderMode::async, LoaderMode::rebatched}) {
    const auto dataset = numbered(1000);
    std::latch full{12};
    dataset->before_read = [&](std::int64_t sample) {
      if (sample < 12) full.count_down();
    };
    {
      DataLoader loader(dataset, 4, {.mode = mode, .workers = 2, .buffered = 3});
      loader.start_epoch();
      full.wait();
    }
    EXPECT_EQ(dataset->reads(), 12);
  }
}

}  // namespace
}  // namespace penstock
