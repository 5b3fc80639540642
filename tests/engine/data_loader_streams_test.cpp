// E1, E2, E3 and 2.5 of docs/reference.md: these tests check loaders of iterable datasets, and what
// becomes of leftover samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>
#include <numeric>
#include <stdexcept>

#include "graph/values/memory.hpp"
#include "penstock/data_loader.hpp"
#include "tests/support/numbered_samples.hpp"
#include "tests/support/numbered_streams.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock {
namespace {

using testing::NumberedStreams;
using testing::refusal;

using Numbers = std::vector<std::int64_t>;

std::shared_ptr<NumberedStreams> streams(std::int64_t count, bool says_size = true) {
  return std::make_shared<NumberedStreams>(count, says_size);
}

std::vector<Numbers> rest_of_epoch(DataLoader& loader) {
  std::vector<Numbers> batches;
  while (const auto batch = loader.next()) {
    const auto numbers = batch->back().as<std::int64_t>();
    batches.emplace_back(numbers.begin(), numbers.end());
  }
  return batches;
}

std::vector<Numbers> next_epoch(DataLoader& loader) {
  loader.start_epoch();
  return rest_of_epoch(loader);
}

Numbers sizes(const std::vector<Numbers>& batches) {
  Numbers result;
  for (const Numbers& batch : batches) result.push_back(static_cast<std::int64_t>(batch.size()));
  return result;
}

Numbers sorted(const std::vector<Numbers>& batches) {
  Numbers all;
  for (const Numbers& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  std::sort(all.begin(), all.end());
  return all;
}

/// Returns the sizes of `count` full batches of `rows` samples, followed by the sizes `others`.
Numbers full(std::size_t count, std::int64_t rows, const Numbers& others = {}) {
  Numbers result(count, rows);
  result.insert(result.end(), others.begin(), others.end());
  return result;
}

struct Tail {
  LoaderMode mode;
  bool drop_last;
  std::int64_t rows;
  Numbers sizes;
  std::int64_t dropped;
  std::string note;
};

const std::string per_worker =
    " of each epoch left out, since each worker's last ones fill no batch";
const std::string at_the_end = " of each epoch left out, since the last ones fill no batch";

TEST(DataLoaderStreams, R2_5_LeaveOutOf101SamplesWithSevenWorkersWhatTheTableSays) {
  using enum LoaderMode;
  const std::vector<Tail> table{
      {sync, true, 4, full(20, 4), 21,
       "data loader: 21 samples" + per_worker + " of 4; drop_last = false keeps them"},
      {async, true, 4, full(20, 4), 21,
       "data loader: 21 samples" + per_worker + " of 4; drop_last = false keeps them"},
      {rebatched, true, 4, full(25, 4), 1,
       "data loader: 1 sample" + at_the_end + " of 4; drop_last = false keeps them"},
      {sync, false, 6, full(13, 6, {5, 3, 3, 3, 3, 3, 3}), 0,
       "data loader: the last batch has 3 samples instead of 6"},
      {async, false, 6, full(13, 6, {5, 3, 3, 3, 3, 3, 3}), 0,
       "data loader: the last batch has 3 samples instead of 6"},
      {rebatched, false, 6, full(16, 6, {5}), 0,
       "data loader: the last batch has 5 samples instead of 6"},
  };
  for (const Tail& row : table)
    for (const int buffered : {1, 3, 8}) {
      DataLoader loader(
          streams(101), row.rows,
          {.drop_last = row.drop_last, .mode = row.mode, .workers = 7, .buffered = buffered});
      EXPECT_EQ(loader.batches(), row.drop_last ? 25 : 17);
      const auto first = next_epoch(loader);
      EXPECT_EQ(sizes(first), row.sizes);
      EXPECT_EQ(loader.dropped_samples(), row.dropped);
      EXPECT_EQ(loader.note(), row.note);
      EXPECT_EQ(next_epoch(loader), first);
      const Numbers seen = sorted(first);
      EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
    }
}

TEST(DataLoaderStreams, R2_5_AnIndexableDatasetOfTheSameSizeLosesOneSampleInEveryMode) {
  for (const LoaderMode mode : {LoaderMode::sync, LoaderMode::async, LoaderMode::rebatched}) {
    DataLoader loader(std::make_shared<testing::NumberedSamples>(101), 4,
                      {.mode = mode, .workers = 7});
    EXPECT_EQ(sizes(next_epoch(loader)), full(25, 4));
    EXPECT_EQ(loader.dropped_samples(), 1);
    EXPECT_EQ(loader.note(),
              "data loader: 1 sample" + at_the_end + " of 4; drop_last = false keeps them");
  }
}

TEST(DataLoaderStreams, E3_SaysWhatTheLastBatchLacksAndNothingIfAllFits) {
  const auto note = [](std::int64_t samples, bool drop_last) {
    return DataLoader(std::make_shared<testing::NumberedSamples>(samples), 4,
                      {.drop_last = drop_last})
        .note();
  };
  EXPECT_EQ(note(10, false), "data loader: the last batch has 2 samples instead of 4");
  EXPECT_EQ(note(12, false), "");
  EXPECT_EQ(note(12, true), "");
  DataLoader loader(streams(12), 4, {.workers = 3});
  rest_of_epoch(loader);
  EXPECT_EQ(loader.note(), "");
}

TEST(DataLoaderStreams, E1_TakeTheirSamplesInTurns) {
  DataLoader batch_per_worker(streams(10), 2, {.drop_last = false, .workers = 2});
  EXPECT_EQ(next_epoch(batch_per_worker),
            (std::vector<Numbers>{{0, 1}, {5, 6}, {2, 3}, {7, 8}, {4}, {9}}));
  DataLoader rebatched(streams(10), 4, {.mode = LoaderMode::rebatched, .workers = 2});
  EXPECT_EQ(next_epoch(rebatched), (std::vector<Numbers>{{0, 1, 5, 6}, {2, 3, 7, 8}}));
  DataLoader alone(streams(5), 2, {.workers = 0});
  EXPECT_EQ(next_epoch(alone), (std::vector<Numbers>{{0, 1}, {2, 3}}));
}

TEST(DataLoaderStreams, E1_NeedNotSayTheirSize) {
  for (const int workers : {0, 3}) {
    DataLoader loader(streams(9, false), 3, {.workers = workers});
    EXPECT_EQ(loader.batches(), 0);
    EXPECT_EQ(next_epoch(loader).size(), 3u);
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(loader.next());
  }
}

TEST(DataLoaderStreams, R2_6_SayHowManySamplesTheirOnlyBatchHas) {
  const auto last = [](std::int64_t samples, bool says_size) {
    return DataLoader(streams(samples, says_size), 8, {.drop_last = false, .workers = 1})
        .last_batch_samples();
  };
  EXPECT_EQ(last(6, true), 6);
  EXPECT_EQ(last(6, false), 8);
  EXPECT_EQ(last(8, true), 8);
  EXPECT_EQ(last(14, true), 8);
}

TEST(DataLoaderStreams, R2_5_BeginAgainCleanlyInTheMiddleOfAnEpoch) {
  for (const LoaderMode mode : {LoaderMode::sync, LoaderMode::async, LoaderMode::rebatched})
    for (const int workers : {0, 1, 3}) {
      DataLoader loader(streams(50), 4, {.mode = mode, .workers = workers});
      const auto whole = next_epoch(loader);
      for (int taken = 0; taken < 8; ++taken) {
        loader.start_epoch();
        for (int i = 0; i < taken; ++i) ASSERT_TRUE(loader.next());
        ASSERT_EQ(next_epoch(loader), whole);
      }
    }
}

TEST(DataLoaderStreams, E2_LeaveBatchesAloneThatAreHeldEvenAfterTheLoadersEnd) {
  for (const LoaderMode mode : {LoaderMode::sync, LoaderMode::async, LoaderMode::rebatched}) {
    std::vector<Batch> held;
    {
      DataLoader loader(streams(60), 4, {.mode = mode, .workers = 3, .buffered = 2});
      while (auto batch = loader.next()) held.push_back(std::move(*batch));
    }
    std::vector<Numbers> numbers;
    for (const Batch& batch : held) {
      const auto values = batch[0].as<std::int64_t>();
      numbers.emplace_back(values.begin(), values.end());
    }
    Numbers every(60);
    std::iota(every.begin(), every.end(), 0);
    EXPECT_EQ(sorted(numbers), every);
  }
}

TEST(DataLoaderStreams, E2_AllocateNoTensorMemoryInSteadyState) {
  for (const LoaderMode mode : {LoaderMode::sync, LoaderMode::async, LoaderMode::rebatched}) {
    DataLoader loader(streams(400), 4, {.mode = mode, .workers = 3});
    rest_of_epoch(loader);
    const auto before = memory_counters().blocks_allocated;
    for (int epoch = 0; epoch < 5; ++epoch) EXPECT_GE(next_epoch(loader).size(), 99u);
    EXPECT_EQ(memory_counters().blocks_allocated, before);
  }
}

TEST(DataLoaderStreams, R2_5_ReportWhatAStreamThrowsNamingTheSampleAndStayUsable) {
  for (const LoaderMode mode : {LoaderMode::sync, LoaderMode::async, LoaderMode::rebatched}) {
    const auto dataset = streams(24);
    std::atomic<bool> broken{true};
    dataset->before_read = [&](std::int64_t sample) {
      if (broken && sample == 15) throw std::runtime_error("bad sector");
    };
    DataLoader loader(dataset, 4, {.mode = mode, .workers = 2});
    for (int again = 0; again < 2; ++again)
      EXPECT_EQ(refusal(Errc::invalid_data, [&] { rest_of_epoch(loader); }),
                "data loader: reading sample 3 of worker 1's stream failed: bad sector");
    broken = false;
    EXPECT_EQ(next_epoch(loader).size(), 6u);
  }
}

// The only worker begins with sample 4 once it has handed over the samples before. In rebatched
// mode, a batch is put together when it is asked for, which takes time.
TEST(DataLoaderStreams, E2_CountNoWaitForABatchThatIsThereUnlessItIsPutTogether) {
  for (const LoaderMode mode : {LoaderMode::async, LoaderMode::rebatched, LoaderMode::sync}) {
    std::latch begun{1}, release{1};
    const auto dataset = streams(8);
    dataset->before_read = [&](std::int64_t sample) {
      if (sample != 4) return;
      begun.count_down();
      release.wait();
    };
    DataLoader loader(dataset, 4, {.mode = mode, .workers = 1});
    loader.start_epoch();
    if (mode != LoaderMode::sync) begun.wait();
    EXPECT_TRUE(loader.next());
    if (mode == LoaderMode::async)
      EXPECT_EQ(loader.waited_seconds(), 0);
    else
      EXPECT_GT(loader.waited_seconds(), 0) << to_string(mode);
    release.count_down();
    EXPECT_EQ(rest_of_epoch(loader).size(), 1u);
  }
}

TEST(DataLoaderStreams, R2_5_EndWhileBlockedAsSoonAsTheSampleBeingReadHasBeen) {
  std::latch begun{1}, release{1};
  std::atomic<int> reads{0};
  const auto dataset = streams(1000);
  dataset->before_read = [&](std::int64_t sample) {
    ++reads;
    if (sample != 0) return;
    begun.count_down();
    release.wait();
  };
  auto loader = std::make_unique<DataLoader>(dataset, 1000, DataLoaderOptions{.workers = 1});
  loader->start_epoch();
  begun.wait();
  std::promise<int> ending;
  auto ended = std::async(std::launch::async, [&] {
    ending.set_value(testing::thread_number());
    loader.reset();
  });
  EXPECT_TRUE(testing::comes_to_wait(ending.get_future().get()));
  release.count_down();
  EXPECT_EQ(ended.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(reads, 1);
}

/// A FailingStreams has the samples 0 to 3 in one stream. In epoch `throws_in` the stream cannot be
/// opened, and in epoch `none_in` there is no stream.
class FailingStreams : public NumberedStreams {
 public:
  FailingStreams(std::uint64_t throws_in, std::uint64_t none_in)
      : NumberedStreams(4), throws_in_(throws_in), none_in_(none_in) {}
  std::unique_ptr<SampleStream> begin(const WorkerInfo& worker) const override {
    if (worker.epoch == throws_in_) throw std::runtime_error("no route to host");
    return worker.epoch == none_in_ ? nullptr : NumberedStreams::begin(worker);
  }

 private:
  std::uint64_t throws_in_, none_in_;
};

TEST(DataLoaderStreams, R2_5_ReportAStreamThatCannotBeOpenedAndGoOnWithTheNextEpoch) {
  const std::string failed = "data loader: reading sample 0 of worker 0's stream failed: ";
  for (const LoaderMode mode : {LoaderMode::sync, LoaderMode::async, LoaderMode::rebatched})
    for (const int workers : {0, 1}) {
      DataLoader loader(std::make_shared<FailingStreams>(0, 2), 2,
                        {.mode = mode, .workers = workers});
      for (const std::string text : {"no route to host", "expected a stream, got none"}) {
        loader.start_epoch();
        for (int again = 0; again < 2; ++again)
          EXPECT_EQ(refusal(Errc::invalid_data, [&] { loader.next(); }), failed + text);
        EXPECT_EQ(next_epoch(loader), (std::vector<Numbers>{{0, 1}, {2, 3}}));
      }
    }
}

class StreamsWithoutFields : public NumberedStreams {
 public:
  StreamsWithoutFields() : NumberedStreams(8) {}
  const std::vector<Field>& fields() const override { return none_; }

 private:
  std::vector<Field> none_;
};

TEST(DataLoaderStreams, E1_RefuseSamplesWithoutAField) {
  EXPECT_EQ(
      refusal(Errc::invalid_data, [] { DataLoader(std::make_shared<StreamsWithoutFields>(), 4); }),
      "data loader: expected a dataset whose samples have a field at least, got none");
}

TEST(DataLoaderStreams, E2_RefuseWhatMakesNoBatch) {
  const std::string empty = "data loader: the dataset is empty";
  EXPECT_EQ(refusal(Errc::invalid_data, [] { DataLoader(streams(0), 1); }), empty);
  DataLoader found_empty(streams(0, false), 1);
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { found_empty.next(); }), empty);
  EXPECT_EQ(
      refusal(Errc::invalid_argument, [] { DataLoader(streams(1), 1, {.shuffle = true}); }),
      "data_loader.shuffle: expected it to be left alone, since an iterable dataset gives its "
      "samples in its own order");
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { DataLoader(streams(1), 0); }),
            "data_loader.samples_per_batch: expected 1 or more, got 0");
}

}  // namespace
}  // namespace penstock
