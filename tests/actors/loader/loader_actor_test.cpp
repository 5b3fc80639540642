#include "actors/loader/loader_actor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "tests/actors/loader/loader_rig.hpp"

namespace penstock::actors {
namespace {

using testing::LoaderRig;

using Floats = std::vector<float>;

/// A LoaderFixture is a deterministic system with a consumer and a loader of ten samples, in
/// batches of four, four and two. The value of each sample is its number.
class LoaderFixture : public LoaderRig<LoaderActor, float> {
 public:
  LoaderFixture(const LoaderSettings& settings, std::uint64_t seed, std::int64_t takes)
      : LoaderRig(settings.workers, seed, takes),
        source_(std::make_shared<const LoaderSource>(source())) {
    std::vector<std::shared_ptr<RowReader>> readers;
    for (int number = 0; number < settings.workers; ++number)
      readers.push_back(std::make_shared<RowReader>(number, source_, watch_));
    loader_ = spawn_loader(system_, *source_, settings, links(), readers);
  }
  ~LoaderFixture() { end(); }

  std::vector<std::int64_t> reads;
  std::int64_t unreadable = -1;

 private:
  LoaderSource source() {
    return {.samples = 10,
            .fields = {{DType::f32, {}}},
            .read = [this](std::int64_t sample, std::uint64_t, const std::stop_token&,
                           std::span<std::byte* const> destinations) {
              if (sample == unreadable) throw std::runtime_error("bad sector");
              reads.push_back(sample);
              const auto value = static_cast<float>(sample);
              std::memcpy(destinations[0], &value, sizeof value);
            }};
  }

  std::shared_ptr<const LoaderSource> source_;
};

LoaderSettings in_threes(int workers, bool ahead = true) {
  return {.batch_rows = 4, .batches = 3, .ahead = ahead, .buffered = 2, .workers = workers};
}

const std::vector<Floats> in_order{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}};

std::vector<Floats> second_epoch(const LoaderSettings& settings) {
  std::vector<Floats> batches;
  const auto order = shuffled_order(10, settings.seed, 1);
  for (std::size_t row = 0; row < order.size(); ++row) {
    if (row % 4 == 0) batches.emplace_back();
    batches.back().push_back(static_cast<float>(order[row]));
  }
  return batches;
}

TEST(LoaderActor, GivesTheSameBatchesUnderAnyMessageOrder) {
  for (const bool ahead : {true, false})
    for (const int workers : {1, 3})
      for (std::uint64_t seed = 0; seed < 200; ++seed) {
        LoaderFixture fixture(in_threes(workers, ahead), seed, 3);
        fixture.begin_epoch(0);
        fixture.run();
        ASSERT_EQ(fixture.consumer.batches, in_order) << workers << " workers, seed " << seed;
      }
}

TEST(LoaderActor, ReadsNoFurtherThanItsCreditsAndOnlyWhenBegun) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    LoaderFixture fixture({.batch_rows = 1, .batches = 10, .buffered = 3, .workers = 2}, seed, 2);
    fixture.run();
    ASSERT_TRUE(fixture.reads.empty());
    fixture.begin_epoch(0);
    fixture.run();
    std::sort(fixture.reads.begin(), fixture.reads.end());
    ASSERT_EQ(fixture.reads, (std::vector<std::int64_t>{0, 1, 2, 3, 4})) << "seed " << seed;
  }
}

TEST(LoaderActor, BeginsAgainCleanlyAtAnyMoment) {
  LoaderSettings settings = in_threes(2);
  settings.shuffle = true;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    LoaderFixture fixture(settings, seed, 3);
    fixture.begin_epoch(0);
    for (std::uint64_t step = 0; step < seed % 30; ++step) fixture.step();
    fixture.begin_epoch(1);
    fixture.run();
    ASSERT_EQ(fixture.consumer.batches, second_epoch(settings)) << "seed " << seed;
  }
}

TEST(LoaderActor, R2_5_FollowsAPlanOfLargerAndSmallerBatchesUnderAnyOrder) {
  const auto plan =
      std::make_shared<const EpochPlan>(EpochPlan{{9, 9, 1, 2, 3, 4, 5, 0}, {1, 7, 8}});
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    LoaderFixture fixture(in_threes(2), seed, 3);
    fixture.begin_epoch(0);
    for (std::uint64_t step = 0; step < seed % 30; ++step) fixture.step();
    fixture.plan = plan;
    fixture.begin_epoch(1);
    fixture.run();
    ASSERT_EQ(fixture.consumer.batches, (std::vector<Floats>{{9}, {9, 1, 2, 3, 4, 5}, {0}}));
    fixture.plan = nullptr;
    fixture.begin_epoch(2);
    fixture.run();
    ASSERT_EQ(fixture.consumer.batches, in_order) << "seed " << seed;
  }
}

TEST(LoaderActor, ReportsAnUnreadableSampleUnderAnyOrderAndGoesOnWithTheNextEpoch) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    LoaderFixture fixture(in_threes(3), seed, 3);
    fixture.unreadable = 5;
    fixture.begin_epoch(0);
    fixture.run();
    ASSERT_EQ(fixture.consumer.batches, (std::vector<Floats>{in_order[0]}));
    ASSERT_TRUE(fixture.consumer.failure);
    EXPECT_EQ(fixture.consumer.failure->code, Errc::invalid_data);
    EXPECT_EQ(fixture.consumer.failure->text, "data loader: reading sample 5 failed: bad sector");
    fixture.unreadable = -1;
    fixture.begin_epoch(1);
    fixture.run();
    ASSERT_EQ(fixture.consumer.batches, in_order);
  }
}

TEST(LoaderActor, EndsAtAnyMoment) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    LoaderFixture fixture(in_threes(2), seed, 3);
    fixture.begin_epoch(0);
    for (std::uint64_t step = 0; step < seed % 40; ++step) fixture.step();
    ASSERT_EQ(fixture.end(), 0u);
  }
}

}  // namespace
}  // namespace penstock::actors
