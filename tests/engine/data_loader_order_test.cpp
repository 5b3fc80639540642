// E1, E6, E7 and 2.5 of docs/reference.md: these tests check samplers, batch samplers, partitions
// and steps per epoch.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

#include "penstock/data_loader.hpp"
#include "tests/engine/numbered_batches.hpp"
#include "tests/support/numbered_streams.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::joined;
using testing::next_epoch;
using testing::numbered;
using testing::Numbers;
using testing::refusal;
using testing::rest_of_epoch;

struct Steps {
  std::string subject;
  std::int64_t samples;
  Options model;
  std::int64_t batches;
  std::int64_t dropped;
};

Options step_of(std::int64_t batch_size, std::int64_t iterations, std::int64_t accumulation,
                std::int64_t replicas) {
  Options model;
  model.batch_size = static_cast<int>(batch_size);
  model.device_iterations = static_cast<int>(iterations);
  model.training.gradient_accumulation = static_cast<int>(accumulation);
  model.topology.replication_factor = static_cast<int>(replicas);
  return model;
}

TEST(DataLoaderOrder, E7_AnEpochHasTheStepsOfTheTable) {
  const std::vector<Steps> table{
      {"training of digits", 60000, step_of(40, 10, 10, 1), 15, 0},
      {"test of digits", 10000, step_of(8, 100, 1, 1), 12, 400},
      {"fashion", 60000, step_of(16, 1, 1, 1), 3750, 0},
      {"E6: CIFAR-10 on two replicas", 50000, step_of(8, 3, 1, 2), 1041, 32},
  };
  for (const Steps& row : table) {
    const DataLoader loader(numbered(row.samples), row.model);
    EXPECT_EQ(loader.batches(), row.batches) << row.subject;
    EXPECT_EQ(loader.dropped_samples(), row.dropped) << row.subject;
  }
}

TEST(DataLoaderOrder, E1_ShufflesNothingAndDropsTheRestUnlessToldOtherwise) {
  const DataLoaderOptions defaults;
  EXPECT_FALSE(defaults.shuffle);
  EXPECT_TRUE(defaults.drop_last);
  EXPECT_EQ(defaults.buffered, 3);
}

TEST(DataLoaderOrder, R2_5_ASamplerChoosesSamplesOfEachEpoch) {
  for (const int workers : {0, 3}) {
    DataLoader loader(numbered(10), 2,
                      {.workers = workers, .sampler = [](std::uint64_t epoch) {
                         return epoch == 0 ? Numbers{9, 9, 0, 3, 1} : Numbers{5, 4};
                       }});
    EXPECT_EQ(loader.batches(), 2);
    EXPECT_EQ(loader.dropped_samples(), 1);
    EXPECT_EQ(next_epoch(loader), (std::vector<Numbers>{{9, 9}, {0, 3}}));
    EXPECT_EQ(next_epoch(loader), (std::vector<Numbers>{{5, 4}}));
    EXPECT_EQ(loader.batches(), 1);
    EXPECT_EQ(loader.dropped_samples(), 0);
  }
  DataLoader all(numbered(2), 3, {.drop_last = false, .sampler = [](std::uint64_t) {
                                    return Numbers{1, 0, 1, 0, 1};
                                  }});
  EXPECT_EQ(next_epoch(all), (std::vector<Numbers>{{1, 0, 1}, {0, 1}}));
  EXPECT_EQ(all.note(), "data loader: the last batch has 2 samples instead of 3");
}

TEST(DataLoaderOrder, R2_5_ASamplerIsAskedForTheEpochAfterThoseLeftOut) {
  DataLoader loader(numbered(10), 1, {.sampler = [](std::uint64_t epoch) {
                      return Numbers(static_cast<std::size_t>(epoch + 1), 7);
                    }});
  loader.skip_epochs(2);
  EXPECT_EQ(loader.batches(), 3);
  EXPECT_EQ(next_epoch(loader), (std::vector<Numbers>{{7}, {7}, {7}}));
  loader.skip_epochs(1);
  EXPECT_EQ(next_epoch(loader).size(), 5U);
}

TEST(DataLoaderOrder, R2_5_ABatchSamplerChoosesBatchesWhichMayBeConcatenated) {
  const BatchSampler sampler = [](std::uint64_t epoch) {
    if (epoch == 1) return std::vector<Numbers>{{0, 1, 2, 3, 4, 5, 6, 7, 8}, {9}};
    return std::vector<Numbers>{{3}, {1, 4}, {0}, {5, 9, 2}, {7}};
  };
  for (const int workers : {0, 3}) {
    DataLoader single(numbered(10), sampler, 1, {.workers = workers});
    EXPECT_EQ(next_epoch(single), sampler(0));
    EXPECT_EQ(next_epoch(single), sampler(1));
    EXPECT_EQ(single.dropped_samples(), 0);
    DataLoader pairs(numbered(10), sampler, 2, {.workers = workers});
    EXPECT_EQ(pairs.dropped_samples(), 1);
    EXPECT_EQ(pairs.note(),
              "data loader: 1 sample of each epoch left out, since the sampler's last batches are "
              "too few for another one");
    EXPECT_EQ(next_epoch(pairs), (std::vector<Numbers>{{3, 1, 4}, {0, 5, 9, 2}}));
    EXPECT_EQ(next_epoch(pairs), (std::vector<Numbers>{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}));
    EXPECT_EQ(pairs.samples_per_batch(), 10);
    EXPECT_EQ(next_epoch(pairs), (std::vector<Numbers>{{3, 1, 4}, {0, 5, 9, 2}}));
  }
}

TEST(DataLoaderOrder, R2_5_SamplersExcludeWhatElseOrdersOrCounts) {
  const Sampler sampler = [](std::uint64_t) { return Numbers{0}; };
  const BatchSampler batches = [](std::uint64_t) { return std::vector<Numbers>{{0}}; };
  const std::string order = ": expected it to be left alone, since a sampler decides on the order";
  const std::string by_batch =
      ": expected it to be left alone, since a batch sampler decides on the batches";
  const auto sampled = [&](DataLoaderOptions options) {
    options.sampler = sampler;
    return refusal(Errc::invalid_argument, [&] { DataLoader(numbered(4), 1, options); });
  };
  EXPECT_EQ(sampled({.shuffle = true}), "data_loader.shuffle" + order);
  EXPECT_EQ(sampled({.partition = {0, 2}}), "data_loader.partition" + order);
  const auto batch_sampled = [&](const DataLoaderOptions& options) {
    return refusal(Errc::invalid_argument, [&] { DataLoader(numbered(4), batches, 1, options); });
  };
  EXPECT_EQ(batch_sampled({.shuffle = true}), "data_loader.shuffle" + by_batch);
  EXPECT_EQ(batch_sampled({.drop_last = false}), "data_loader.drop_last" + by_batch);
  EXPECT_EQ(batch_sampled({.sampler = sampler}), "data_loader.sampler" + by_batch);
  EXPECT_EQ(batch_sampled({.partition = {0, 2}}), "data_loader.partition" + by_batch);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { DataLoader(numbered(4), batches, 0); }),
            "data_loader.concatenated: expected 1 or more, got 0");
}

TEST(DataLoaderOrder, R2_5_WhatASamplerSaysIsCheckedAndNothingIsLostByIt) {
  Numbers order{0, 1};
  DataLoader loader(numbered(2), 1, {.sampler = [&](std::uint64_t) { return order; }});
  const auto refused = [&](const Numbers& bad) {
    order = bad;
    return refusal(Errc::invalid_data, [&] {
      loader.start_epoch();
      loader.start_epoch();  // The constructor has asked the sampler for the first epoch already.
    });
  };
  EXPECT_EQ(refused({0, 2}), "data loader: the sampler's sample 1 is 2, expected 0 to 1");
  EXPECT_EQ(refused({-1}), "data loader: the sampler's sample 0 is -1, expected 0 to 1");
  EXPECT_EQ(refused({}), "data loader: the sampler's 0 samples for epoch 1 make no batch");
  order = {1};
  EXPECT_EQ(next_epoch(loader), (std::vector<Numbers>{{1}}));
  EXPECT_EQ(refusal(Errc::invalid_data,
                    [] {
                      DataLoader(
                          numbered(2),
                          [](std::uint64_t) {
                            return std::vector<Numbers>{{0}, {}};
                          },
                          1);
                    }),
            "data loader: the sampler's batch 1 is empty");
}

TEST(DataLoaderOrder, R2_5_WhatASamplerThrowsReachesTheCallerAndTheEpochBeginsLater) {
  bool broken = false;
  std::vector<std::uint64_t> asked;
  const auto order = [&](std::uint64_t epoch) {
    asked.push_back(epoch);
    if (broken) throw std::runtime_error("no index file");
    return Numbers{static_cast<std::int64_t>(epoch), 3};
  };
  const BatchSampler batches = [&](std::uint64_t epoch) {
    return std::vector<Numbers>{order(epoch)};
  };
  std::vector<DataLoader> loaders;
  loaders.push_back(DataLoader(numbered(4), 2, {.sampler = order}));
  loaders.push_back(DataLoader(numbered(4), batches, 1));
  for (DataLoader& loader : loaders) {
    asked.clear();
    EXPECT_EQ(next_epoch(loader), (std::vector<Numbers>{{0, 3}}));
    loader.start_epoch();
    broken = true;
    EXPECT_THROW(loader.start_epoch(), std::runtime_error);
    EXPECT_EQ(rest_of_epoch(loader), (std::vector<Numbers>{{1, 3}})) << "which has begun before";
    broken = false;
    EXPECT_EQ(next_epoch(loader), (std::vector<Numbers>{{2, 3}}));
    EXPECT_EQ(asked, (std::vector<std::uint64_t>{1, 2, 2}));
  }
  broken = true;
  EXPECT_THROW(DataLoader(numbered(4), 2, {.sampler = order}), std::runtime_error);
  EXPECT_THROW(DataLoader(numbered(4), batches, 1), std::runtime_error);
}

struct Shares {
  std::int64_t samples;
  int parts;
  std::int64_t rows;
  bool drop_last;
  bool shuffle;
  std::int64_t batches;
  std::int64_t dropped;
};

TEST(DataLoaderOrder, R2_5_PartsOfAPartitionAreDisjointEquallyLongAndRotateWhatIsLeft) {
  const std::vector<Shares> table{
      {101, 4, 5, true, false, 5, 1}, {101, 4, 5, true, true, 5, 1}, {101, 3, 8, true, true, 4, 5},
      {101, 3, 8, false, true, 5, 2}, {17, 2, 4, true, false, 2, 1}, {17, 5, 4, false, false, 1, 2},
      {19, 2, 5, true, false, 1, 9},  {12, 3, 2, true, true, 2, 0},
  };
  for (const Shares& row : table) {
    std::vector<DataLoader> loaders;
    for (int index = 0; index < row.parts; ++index)
      loaders.push_back(DataLoader(numbered(row.samples), row.rows,
                                   {.shuffle = row.shuffle,
                                    .drop_last = row.drop_last,
                                    .workers = 0,
                                    .seed = 5,
                                    .partition = {index, row.parts}}));
    std::set<std::int64_t> ever;
    std::set<Numbers> left;
    for (int epoch = 0; epoch < 20; ++epoch) {
      std::set<std::int64_t> seen;
      std::size_t count = 0;
      for (DataLoader& loader : loaders) {
        ASSERT_EQ(loader.dropped_samples(), row.dropped);
        ASSERT_EQ(loader.note().empty(), row.dropped == 0 && row.drop_last);
        const auto batches = next_epoch(loader);
        ASSERT_EQ(static_cast<std::int64_t>(batches.size()), row.batches);
        const Numbers numbers = joined(batches);
        seen.insert(numbers.begin(), numbers.end());
        count += numbers.size();
      }
      ASSERT_EQ(count, seen.size());
      ASSERT_EQ(static_cast<std::int64_t>(seen.size()), row.samples - row.dropped);
      ever.insert(seen.begin(), seen.end());
      left.insert(Numbers(seen.begin(), seen.end()));
    }
    EXPECT_EQ(static_cast<std::int64_t>(ever.size()), row.samples);
    EXPECT_GE(left.size(), row.dropped > 0 ? 10u : 1u);
  }
}

TEST(DataLoaderOrder, R2_5_APartitionIsRefusedIfItCannotBeShared) {
  const auto refused = [](Errc code, const DataLoaderOptions& options) {
    return refusal(code, [&] { DataLoader(numbered(7), 4, options); });
  };
  EXPECT_EQ(refused(Errc::invalid_argument, {.shuffle = true, .partition = {0, 2}}),
            "data_loader.seed: expected one that all partitions share, since they "
            "shuffle, got none");
  EXPECT_EQ(refused(Errc::invalid_argument, {.partition = {2, 2}}),
            "data_loader.partition.index: expected 0 to 1, got 2");
  EXPECT_EQ(refused(Errc::invalid_argument, {.partition = {0, 0}}),
            "data_loader.partition.count: expected 1 to 1048576, got 0");
  EXPECT_EQ(refused(Errc::invalid_data, {.partition = {0, 2}}),
            "data loader: a batch takes 4 samples, the partition has 3");
  EXPECT_EQ(
      refusal(Errc::invalid_argument,
              [] {
                DataLoader(std::make_shared<testing::NumberedStreams>(9), 1, {.partition = {0, 2}});
              }),
      "data_loader.partition: expected it to be left alone, since an iterable dataset gives "
      "its samples in its own order");
}

}  // namespace
}  // namespace penstock
