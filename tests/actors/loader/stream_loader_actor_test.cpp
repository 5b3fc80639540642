// 2.5: these tests check the loader of streams under many orders of messages.
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "tests/actors/loader/loader_rig.hpp"

namespace penstock::actors {
namespace {

using testing::LoaderRig;

using Values = std::vector<std::int64_t>;

/// A StreamFixture is a deterministic system with a consumer and a loader of streams. The stream of
/// worker w has `lengths[w]` numbers, from 100*w on.
class StreamFixture : public LoaderRig<StreamLoaderActor, std::int64_t> {
 public:
  StreamFixture(StreamSettings settings, const Values& lengths, std::uint64_t seed,
                std::int64_t takes = 1000)
      : LoaderRig(static_cast<int>(lengths.size()), seed, takes),
        lengths_(lengths),
        source_(std::make_shared<const StreamSource>(source())) {
    settings.workers = static_cast<int>(lengths.size());
    std::vector<std::shared_ptr<StreamReader>> readers;
    for (int number = 0; number < settings.workers; ++number)
      readers.push_back(std::make_shared<StreamReader>(number, source_, watch_));
    loader_ = spawn_loader(system_, *source_, settings, links(), readers);
  }
  ~StreamFixture() { end(); }

  std::int64_t reads = 0;
  std::int64_t unreadable = -1;

 private:
  StreamSource source() {
    return {{{DType::i64, {}}}, [this](int worker, std::uint64_t, const std::stop_token&) {
              return NextSample(Numbers(*this, worker));
            }};
  }

  class Numbers {
   public:
    Numbers(StreamFixture& fixture, int worker)
        : fixture_(fixture),
          next_(100 * worker),
          end_(next_ + fixture.lengths_[static_cast<std::size_t>(worker)]) {}
    bool operator()(std::span<std::byte* const> destinations, const std::stop_token&) {
      if (next_ == end_) return false;
      if (next_ == fixture_.unreadable) throw std::runtime_error("bad sector");
      std::memcpy(destinations[0], &next_, sizeof next_);
      ++next_;
      ++fixture_.reads;
      return true;
    }

   private:
    StreamFixture& fixture_;
    std::int64_t next_, end_;
  };

  Values lengths_;
  std::shared_ptr<const StreamSource> source_;
};

struct Expectation {
  StreamSettings settings;
  std::vector<Values> batches;
  std::int64_t dropped;
};

const Values uneven{5, 0, 2};

std::vector<Expectation> expectations() {
  const std::vector<Values> full{{0, 1}, {200, 201}, {2, 3}};
  const std::vector<Values> all{{0, 1}, {200, 201}, {2, 3}, {4}};
  const std::vector<Values> all_together{{0, 1, 200, 201}, {2, 3, 4}};
  std::vector<Expectation> result;
  for (const int buffered : {1, 2, 4})
    for (const bool ahead : {false, true}) {
      result.push_back({{.batch_rows = 2, .ahead = ahead, .buffered = buffered}, full, 1});
      result.push_back(
          {{.batch_rows = 2, .drop_last = false, .ahead = ahead, .buffered = buffered}, all, 0});
      result.push_back({{.batch_rows = 4,
                         .drop_last = false,
                         .rebatched = true,
                         .ahead = ahead,
                         .buffered = buffered},
                        all_together,
                        0});
    }
  result.push_back(
      {{.batch_rows = 3, .rebatched = true, .buffered = 2}, {{0, 200, 1}, {201, 2, 3}}, 1});
  return result;
}

TEST(StreamLoaderActor, R2_5_GivesTheSameBatchesUnderAnyMessageOrder) {
  for (const Expectation& expected : expectations())
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      StreamFixture fixture(expected.settings, uneven, seed);
      fixture.begin_epoch(0);
      fixture.run();
      ASSERT_EQ(fixture.consumer.batches, expected.batches) << "seed " << seed;
      ASSERT_EQ(fixture.consumer.dropped, expected.dropped) << "seed " << seed;
    }
}

TEST(StreamLoaderActor, E2_ReadsNoFurtherThanItsCreditsAndOnlyWhenBegun) {
  for (const bool rebatched : {false, true})
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      StreamFixture fixture({.batch_rows = 2, .rebatched = rebatched, .buffered = 3}, {50, 50},
                            seed, 2);
      fixture.run();
      ASSERT_EQ(fixture.reads, 0);
      fixture.begin_epoch(0);
      fixture.run();
      ASSERT_EQ(fixture.reads, 2 * (2 + 3)) << "seed " << seed;
    }
}

TEST(StreamLoaderActor, R2_5_BeginsAgainCleanlyAtAnyMoment) {
  for (const Expectation& expected : expectations())
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      StreamFixture fixture(expected.settings, uneven, seed);
      fixture.begin_epoch(0);
      for (std::uint64_t step = 0; step < seed % 30; ++step) fixture.step();
      fixture.begin_epoch(1);
      fixture.run();
      ASSERT_EQ(fixture.consumer.batches, expected.batches) << "seed " << seed;
      ASSERT_EQ(fixture.consumer.dropped, expected.dropped) << "seed " << seed;
    }
}

TEST(StreamLoaderActor, R2_5_ReportsAnUnreadableSampleUnderAnyOrderAndGoesOnWithTheNextEpoch) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    StreamFixture fixture({.batch_rows = 2, .buffered = 3}, uneven, seed);
    fixture.unreadable = 3;
    fixture.begin_epoch(0);
    fixture.run();
    ASSERT_EQ(fixture.consumer.batches, (std::vector<Values>{{0, 1}, {200, 201}}));
    ASSERT_TRUE(fixture.consumer.failure);
    EXPECT_EQ(fixture.consumer.failure->code, Errc::invalid_data);
    EXPECT_EQ(fixture.consumer.failure->text,
              "data loader: reading sample 3 of worker 0's stream failed: bad sector");
    fixture.unreadable = -1;
    fixture.begin_epoch(1);
    fixture.run();
    ASSERT_EQ(fixture.consumer.batches, (std::vector<Values>{{0, 1}, {200, 201}, {2, 3}}));
  }
}

TEST(StreamLoaderActor, R2_5_EndsAtAnyMoment) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    StreamFixture fixture({.batch_rows = 2, .buffered = 2}, uneven, seed);
    fixture.begin_epoch(0);
    for (std::uint64_t step = 0; step < seed % 40; ++step) fixture.step();
    ASSERT_EQ(fixture.end(), 0u);
  }
}

}  // namespace
}  // namespace penstock::actors
