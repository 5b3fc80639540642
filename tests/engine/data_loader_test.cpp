#include "penstock/data_loader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "graph/values/memory.hpp"
#include "tests/engine/numbered_batches.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock {
namespace {

using testing::joined;
using testing::next_epoch;
using testing::numbered;
using testing::NumberedSamples;
using testing::Numbers;
using testing::numbers_of;
using testing::refusal;
using testing::rest_of_epoch;

Numbers sorted(Numbers numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

TEST(DataLoader, KeepsTheFilesOrderAndSaysHowManySamplesFillNoBatch) {
  DataLoader loader(numbered(10), 4);
  EXPECT_EQ(loader.samples_per_batch(), 4);
  EXPECT_EQ(loader.batches(), 2);
  EXPECT_EQ(loader.dropped_samples(), 2);
  EXPECT_EQ(loader.note(),
            "data loader: 2 samples of each epoch left out, since the last ones fill no batch of "
            "4; drop_last = false keeps them");
  EXPECT_EQ(next_epoch(loader), (std::vector<Numbers>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(DataLoader(numbered(8), 4).note(), "");
}

TEST(DataLoader, MayEndWithAShortBatch) {
  DataLoader loader(numbered(10), 4, {.drop_last = false});
  EXPECT_EQ(loader.batches(), 3);
  EXPECT_EQ(loader.dropped_samples(), 0);
  EXPECT_EQ(next_epoch(loader), (std::vector<Numbers>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
  DataLoader one_batch(numbered(3), 1'000'000'000'000'000'000, {.drop_last = false});
  EXPECT_EQ(next_epoch(one_batch), (std::vector<Numbers>{{0, 1, 2}}));
}

TEST(DataLoader, TakesWhatOneStepOfAModelTakes) {
  Options model{.batch_size = 2, .device_iterations = 3};
  model.training.gradient_accumulation = 4;
  EXPECT_EQ(DataLoader(numbered(100), model).samples_per_batch(), 24);
}

TEST(DataLoader, GivesTensorsOfTheDatasetsFields) {
  DataLoader loader(numbered(10), 4);
  const auto batch = loader.next();
  ASSERT_EQ(batch->size(), 2u);
  EXPECT_EQ((*batch)[0].shape(), (Shape{4, 2}));
  EXPECT_EQ((*batch)[0].dtype(), DType::f32);
  EXPECT_EQ((*batch)[1].shape(), Shape{4});
  EXPECT_EQ((*batch)[1].dtype(), DType::i64);
}

TEST(DataLoader, EndsAnEpochOnceAndForAll) {
  DataLoader loader(numbered(4), 4);
  EXPECT_TRUE(loader.next());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(loader.next());
  loader.start_epoch();
  EXPECT_TRUE(loader.next());
}

// F17 of docs/reference.md: the seed decides the order of the samples.
TEST(DataLoader, ShufflesEveryEpochAnewFromItsSeed) {
  const auto two_epochs = [](std::uint64_t seed) {
    DataLoader loader(numbered(100), 10, {.shuffle = true, .seed = seed});
    const auto first = next_epoch(loader);
    return std::pair(joined(first), joined(next_epoch(loader)));
  };
  const auto [first, second] = two_epochs(1);
  Numbers every(100);
  std::iota(every.begin(), every.end(), 0);
  EXPECT_EQ(sorted(first), every);
  EXPECT_EQ(sorted(second), every);
  EXPECT_NE(first, every);
  EXPECT_NE(first, second);
  EXPECT_EQ(two_epochs(1), std::pair(first, second));
  EXPECT_NE(two_epochs(2).first, first);
}

TEST(DataLoader, LeavesOutEpochsAsIfTheyHadBeen) {
  const DataLoaderOptions shuffled{.shuffle = true, .seed = 1};
  DataLoader whole(numbered(100), 10, shuffled), late(numbered(100), 10, shuffled);
  std::vector<Numbers> epochs;
  for (int epoch = 0; epoch < 5; ++epoch) epochs.push_back(joined(next_epoch(whole)));
  late.skip_epochs(2);
  EXPECT_EQ(joined(next_epoch(late)), epochs[2]);
  late.skip_epochs(0);
  late.start_epoch();
  late.next();
  late.skip_epochs(1);
  EXPECT_NE(late.next(), std::nullopt) << "the epoch that has begun goes on";
  DataLoader first(numbered(100), 10, shuffled);
  first.skip_epochs(4);
  const std::optional<Batch> batch = first.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(numbers_of(*batch)[0], epochs[4][0]);
}

// E2 of docs/reference.md: reading ahead decides when samples are read, but neither which samples
// nor their order.
TEST(DataLoader, GivesTheSameWhateverItsModeWorkersAndBuffers) {
  for (const bool drop_last : {true, false}) {
    std::vector<std::vector<Numbers>> epochs;
    for (const LoaderMode mode : {LoaderMode::sync, LoaderMode::async, LoaderMode::rebatched})
      for (const int workers : {0, 1, 2, 5})
        for (const int buffered : {1, 4}) {
          DataLoader loader(numbered(103), 10,
                            {.shuffle = true,
                             .drop_last = drop_last,
                             .mode = mode,
                             .workers = workers,
                             .buffered = buffered,
                             .seed = 3});
          for (std::size_t epoch = 0; epoch < 3; ++epoch) {
            if (epochs.size() == epoch)
              epochs.push_back(next_epoch(loader));
            else
              ASSERT_EQ(next_epoch(loader), epochs[epoch])
                  << workers << " workers, buffered " << buffered;
          }
        }
    EXPECT_EQ(epochs[0].size(), drop_last ? 10u : 11u);
  }
}

TEST(DataLoader, BeginsTheNextEpochInTheMiddleOfOne) {
  for (const LoaderMode mode : {LoaderMode::sync, LoaderMode::async}) {
    DataLoader interrupted(numbered(40), 4, {.shuffle = true, .mode = mode});
    DataLoader whole(numbered(40), 4, {.shuffle = true, .mode = mode});
    for (int epoch = 0; epoch < 20; ++epoch) {
      interrupted.start_epoch();
      for (int batch = 0; batch < epoch % 4; ++batch) interrupted.next();
      whole.start_epoch();
    }
    EXPECT_EQ(next_epoch(interrupted), next_epoch(whole));
  }
}

TEST(DataLoader, IsARangeOfTheNextEpochsBatches) {
  DataLoader loader(numbered(10), 4, {.shuffle = true}), same(numbered(10), 4, {.shuffle = true});
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<Numbers> batches;
    for (const Batch& batch : loader) batches.push_back(numbers_of(batch));
    EXPECT_EQ(batches, next_epoch(same));
  }
}

TEST(DataLoader, LeavesBatchesAloneThatAreHeldEvenAfterItsEnd) {
  std::vector<Batch> held;
  {
    DataLoader loader(numbered(40), 4, {.buffered = 2});
    while (auto batch = loader.next()) held.push_back(std::move(*batch));
  }
  ASSERT_EQ(held.size(), 10u);
  for (std::size_t i = 0; i < held.size(); ++i) {
    const auto first = static_cast<std::int64_t>(4 * i);
    EXPECT_EQ(numbers_of(held[i]), (Numbers{first, first + 1, first + 2, first + 3}));
  }
}

TEST(DataLoader, AllocatesNoTensorMemoryInSteadyState) {
  for (const LoaderMode mode : {LoaderMode::sync, LoaderMode::async}) {
    DataLoader loader(numbered(400), 4, {.mode = mode, .buffered = 3});
    rest_of_epoch(loader);
    const auto before = memory_counters().blocks_allocated;
    for (int epoch = 0; epoch < 5; ++epoch) EXPECT_EQ(next_epoch(loader).size(), 100u);
    for (const Batch& batch : loader) EXPECT_EQ(batch.size(), 2u);
    EXPECT_EQ(memory_counters().blocks_allocated, before);
  }
}

TEST(DataLoader, GivesItsMemoryBack) {
  const auto before = memory_counters().bytes_live;
  {
    DataLoader loader(numbered(40), 4);
    loader.next();
    EXPECT_GT(memory_counters().bytes_live, before);
  }
  EXPECT_EQ(memory_counters().bytes_live, before);
}

/// A Thrown has something that a dataset may throw, and the text that the host gets.
struct Thrown {
  std::function<void()> action;
  std::string text;
};

TEST(DataLoader, ReportsWhatADatasetThrowsNamingTheSampleAndStaysUsable) {
  const std::vector<Thrown> table{
      {[] { throw std::runtime_error("bad sector"); }, "bad sector"},
      {[] { throw Error(Errc::io_error, "disk is gone"); }, "disk is gone"},
      {[] { throw 7; }, "an exception that is no std::exception"}};
  for (const auto& [action, text] : table)
    for (const int workers : {0, 3}) {
      const auto dataset = numbered(12);
      std::atomic<bool> broken{true};
      dataset->before_read = [&, &act = action](std::int64_t sample) {
        if (broken && sample >= 6) act();
      };
      DataLoader loader(dataset, 4, {.workers = workers});
      EXPECT_EQ(numbers_of(*loader.next()), (Numbers{0, 1, 2, 3}));
      for (int again = 0; again < 2; ++again)
        EXPECT_EQ(refusal(Errc::invalid_data, [&] { loader.next(); }),
                  "data loader: reading sample 6 failed: " + text);
      broken = false;
      EXPECT_EQ(next_epoch(loader).size(), 3u);
    }
}

TEST(DataLoader, TwoHundredOfThemComeAndGoWithoutLeavingAThread) {
  { DataLoader first(numbered(4), 4); }  // The first loader starts what the process starts once.
  const std::size_t threads = testing::thread_count();
  for (int i = 0; i < 200; ++i) {
    DataLoader loader(numbered(40), 4, {.workers = i % 4, .buffered = 1 + i % 3});
    loader.start_epoch();
    for (int batch = 0; batch < i % 5; ++batch) EXPECT_TRUE(loader.next());
  }
  EXPECT_TRUE(testing::threads_fall_to(threads));
}

TEST(DataLoader, MovesWithItsEpoch) {
  DataLoader loader(numbered(8), 4);
  loader.next();
  DataLoader moved(std::move(loader));
  EXPECT_EQ(rest_of_epoch(moved), (std::vector<Numbers>{{4, 5, 6, 7}}));
}

struct Refused {
  std::int64_t samples;
  std::int64_t rows;
  DataLoaderOptions options;
  Errc code;
  std::string text;
};

TEST(DataLoader, SaysWhichOptionsMakeABatchLargerThanTheDataset) {
  Options model{.batch_size = 2, .device_iterations = 5, .topology = {.replication_factor = 2}};
  model.training.gradient_accumulation = 10;
  const auto refused = [&] {
    return refusal(Errc::invalid_data, [&] { DataLoader(synthetic_digits(100, 0, {}), model); });
  };
  EXPECT_EQ(
      refused(),
      "data loader: a batch takes 200 samples, the dataset has 100: a step takes batch_size 2 "
      "x training.gradient_accumulation 10 x device_iterations 5 x "
      "topology.replication_factor 2; lower one of these options of the model, or let the "
      "loader's drop_last = false make a shorter batch");
  model.topology.replication_factor = 4;
  model.topology.input_group_size = 2;
  EXPECT_NE(refused().find("topology.replication_factor 4 / topology.input_group_size 2; lower"),
            std::string::npos);
  EXPECT_EQ(DataLoader(synthetic_digits(100, 0, {}), model, {.drop_last = false}).batches(), 1);
}

TEST(DataLoader, RefusesWhatCannotMakeABatch) {
  const std::vector<Refused> table{
      {0, 4, {}, Errc::invalid_data, "data loader: the dataset is empty"},
      {3, 4, {}, Errc::invalid_data, "data loader: a batch takes 4 samples, the dataset has 3"},
      {3,
       0,
       {},
       Errc::invalid_argument,
       "data_loader.samples_per_batch: expected 1 or more, got 0"},
      {3,
       1,
       {.workers = -1},
       Errc::invalid_argument,
       "data_loader.workers: expected 0 to 1024, got -1"},
      {3,
       1,
       {.buffered = 0},
       Errc::invalid_argument,
       "data_loader.buffered: expected 1 to 1024, got 0"},
      {3,
       1,
       {.timeout_seconds = 0},
       Errc::invalid_argument,
       "data_loader.timeout_seconds: expected more than 0 and at most 1000000000, got 0"},
  };
  for (const Refused& row : table)
    EXPECT_EQ(refusal(row.code, [&] { DataLoader(numbered(row.samples), row.rows, row.options); }),
              row.text);
  EXPECT_EQ(
      refusal(Errc::invalid_argument, [] { DataLoader(std::shared_ptr<const Dataset>(), 1); }),
      "data loader: expected a dataset, got none");
}

/// A Vast has a field that is so large that no machine has memory for a batch.
class Vast : public NumberedSamples {
 public:
  explicit Vast(const Shape& shape) : NumberedSamples(1'000'000), vast_{{"x", DType::f32, shape}} {}
  const std::vector<Field>& fields() const override { return vast_; }

 private:
  std::vector<Field> vast_;
};

class WithoutFields : public NumberedSamples {
 public:
  WithoutFields() : NumberedSamples(8) {}
  const std::vector<Field>& fields() const override { return none_; }

 private:
  std::vector<Field> none_;
};

TEST(DataLoader, E1_RefusesSamplesWithoutAField) {
  const std::string text =
      "data loader: expected a dataset whose samples have a field at least, got none";
  const auto dataset = std::make_shared<WithoutFields>();
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { DataLoader(dataset, 4); }), text);
  const BatchSampler sampler = [](std::uint64_t) {
    return std::vector<std::vector<std::int64_t>>{{0}};
  };
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { DataLoader(dataset, sampler, 1); }), text);
}

TEST(DataLoader, RefusesFieldsThatMakeNoBatch) {
  EXPECT_EQ(
      refusal(Errc::invalid_argument,
              [] { DataLoader(std::make_shared<Vast>(Shape{1'000'000'000'000}), 1000); }),
      "data loader: 1000 samples of \"x\" [1000000000000] make no batch: shape: more elements "
      "than any machine holds");
  EXPECT_EQ(
      refusal(Errc::invalid_argument,
              [] {
                DataLoader(std::make_shared<Vast>(Shape{1, 1, 1, 1, 1, 1, 1, 1}), 1);
              }),
      "data loader: 1 samples of \"x\" [1,1,1,1,1,1,1,1] make no batch: shape: expected at most 8 "
      "dimensions, got 9");
}

}  // namespace
}  // namespace penstock
