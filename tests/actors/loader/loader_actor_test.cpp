#include "actors/loader/loader_actor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <caf/actor_registry.hpp>
#include <caf/event_based_actor.hpp>
#include <cstring>
#include <stdexcept>

#include "actors/system/base_init.hpp"
#include "actors/system/errors.hpp"
#include "tests/support/deterministic_run.hpp"

namespace penstock::actors {
namespace {

using testing::DeterministicRun;

using Values = std::vector<float>;

/// What a consumer has been given in its last epoch.
struct Received {
  std::uint64_t epoch = 0;
  std::vector<Values> batches = {};
  std::vector<Error> errors = {};
};

/// Begins an epoch of the plan there is whenever it is sent its number, and takes `count` batches
/// of it.
caf::behavior consumer(caf::event_based_actor* self, const LoaderActor& loader, std::int64_t count,
                       const std::shared_ptr<const EpochPlan>* plan, Received* received) {
  base_init(self);
  return {[=](std::uint64_t epoch) {
            *received = {epoch, {}, {}};
            self->send(loader, StartEpoch{epoch, *plan});
            self->send(self, epoch, std::int64_t{0});
          },
          [=](std::uint64_t epoch, std::int64_t batch) {
            if (epoch != received->epoch || batch == count) return;
            self->request(loader, caf::infinite, TakeBatch{batch})
                .then(
                    [=](const LoadedBatch& loaded) {
                      if (epoch != received->epoch) return;
                      const auto values = loaded.tensors.at(0).as<float>();
                      received->batches.emplace_back(values.begin(), values.end());
                      self->send(self, epoch, batch + 1);
                    },
                    [=](const caf::error& error) { received->errors.push_back(to_error(error)); });
          }};
}

/// A deterministic system with a loader of ten samples, whose values are their numbers, in batches
/// of four, four and two.
class LoaderFixture {
 public:
  LoaderFixture(const LoaderSettings& settings, std::uint64_t seed, std::int64_t takes)
      : system_({.deterministic = true}), run_(system_, seed) {
    loader_ = spawn_loader(system_, std::make_shared<const LoaderSource>(source()), settings,
                           std::make_shared<LoaderWatch>(std::max(1, settings.workers)));
    consumer_ = system_.spawn(RunsOn::workers, consumer, loader_, takes, &plan, &received);
  }
  ~LoaderFixture() { end(); }

  /// How many actors are left, all of them told to end.
  std::size_t end() {
    caf::anon_send_exit(loader_, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(consumer_, caf::exit_reason::user_shutdown);
    run_.run();
    return system_.caf().registry().running();
  }

  void begin_epoch(std::uint64_t epoch) { caf::anon_send(consumer_, epoch); }
  DeterministicRun& run() { return run_; }

  Received received;
  std::shared_ptr<const EpochPlan> plan;  // of the epochs that begin
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

  ActorSystem system_;
  DeterministicRun run_;
  LoaderActor loader_;
  caf::actor consumer_;
};

LoaderSettings in_threes(int workers, bool ahead = true) {
  return {.batch_rows = 4, .batches = 3, .ahead = ahead, .buffered = 2, .workers = workers};
}

const std::vector<Values> in_order{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}};

std::vector<Values> second_epoch(const LoaderSettings& settings) {
  std::vector<Values> batches;
  const auto order = epoch_order(10, settings.shuffle, settings.seed, 1);
  for (std::size_t row = 0; row < order.size(); ++row) {
    if (row % 4 == 0) batches.emplace_back();
    batches.back().push_back(static_cast<float>(order[row]));
  }
  return batches;
}

TEST(LoaderActor, GivesTheSameBatchesUnderAnyMessageOrder) {
  for (const bool ahead : {true, false})
    for (const int workers : {0, 1, 3})
      for (std::uint64_t seed = 0; seed < 200; ++seed) {
        LoaderFixture fixture(in_threes(workers, ahead), seed, 3);
        fixture.begin_epoch(0);
        fixture.run().run();
        ASSERT_EQ(fixture.received.batches, in_order) << workers << " workers, seed " << seed;
      }
}

TEST(LoaderActor, ReadsNoFurtherThanItsCreditsAndOnlyWhenBegun) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    LoaderFixture fixture({.batch_rows = 1, .batches = 10, .buffered = 3, .workers = 2}, seed, 2);
    fixture.run().run();
    ASSERT_TRUE(fixture.reads.empty());
    fixture.begin_epoch(0);
    fixture.run().run();
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
    for (std::uint64_t step = 0; step < seed % 30; ++step) fixture.run().step();
    fixture.begin_epoch(1);
    fixture.run().run();
    ASSERT_EQ(fixture.received.batches, second_epoch(settings)) << "seed " << seed;
  }
}

TEST(LoaderActor, R2_5_FollowsAPlanOfLargerAndSmallerBatchesUnderAnyOrder) {
  const auto plan =
      std::make_shared<const EpochPlan>(EpochPlan{{9, 9, 1, 2, 3, 4, 5, 0}, {1, 7, 8}});
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    LoaderFixture fixture(in_threes(2), seed, 3);
    fixture.begin_epoch(0);
    for (std::uint64_t step = 0; step < seed % 30; ++step) fixture.run().step();
    fixture.plan = plan;
    fixture.begin_epoch(1);
    fixture.run().run();
    ASSERT_EQ(fixture.received.batches, (std::vector<Values>{{9}, {9, 1, 2, 3, 4, 5}, {0}}));
    fixture.plan = nullptr;
    fixture.begin_epoch(2);
    fixture.run().run();
    ASSERT_EQ(fixture.received.batches, in_order) << "seed " << seed;
  }
}

TEST(LoaderActor, ReportsAnUnreadableSampleUnderAnyOrderAndGoesOnWithTheNextEpoch) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    LoaderFixture fixture(in_threes(3), seed, 3);
    fixture.unreadable = 5;
    fixture.begin_epoch(0);
    fixture.run().run();
    ASSERT_EQ(fixture.received.batches, (std::vector<Values>{in_order[0]}));
    ASSERT_EQ(fixture.received.errors.size(), 1u);
    EXPECT_EQ(fixture.received.errors[0].code(), Errc::invalid_data);
    EXPECT_STREQ(fixture.received.errors[0].what(),
                 "data loader: reading sample 5 failed: bad sector");
    fixture.unreadable = -1;
    fixture.begin_epoch(1);
    fixture.run().run();
    ASSERT_EQ(fixture.received.batches, in_order);
  }
}

TEST(LoaderActor, EndsWithItsWorkersAtAnyMoment) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    LoaderFixture fixture(in_threes(2), seed, 3);
    fixture.begin_epoch(0);
    for (std::uint64_t step = 0; step < seed % 40; ++step) fixture.run().step();
    ASSERT_EQ(fixture.end(), 0u);
  }
}

}  // namespace
}  // namespace penstock::actors
