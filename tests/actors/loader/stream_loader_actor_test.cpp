// Section 2.5: the loader of streams under any message order.
#include "actors/loader/stream_loader_actor.hpp"

#include <gtest/gtest.h>

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

using Values = std::vector<std::int64_t>;

struct Received {
  std::uint64_t epoch = 0;
  std::vector<Values> batches = {};
  std::int64_t dropped = -1;  // at the epoch's end
  std::vector<Error> errors = {};
};

/// Begins an epoch whenever it is sent its number, and takes all of its batches, or `count`.
caf::behavior consumer(caf::event_based_actor* self, const Loader& loader, std::int64_t count,
                       Received* received) {
  base_init(self);
  return {[=](std::uint64_t epoch) {
            *received = {epoch, {}, -1, {}};
            self->send(loader, StartEpoch{epoch, {}});
            self->send(self, epoch, std::int64_t{0});
          },
          [=](std::uint64_t epoch, std::int64_t batch) {
            if (epoch != received->epoch || batch == count) return;
            self->request(loader, caf::infinite, TakeBatch{batch})
                .then(
                    [=](const LoadedBatch& loaded) {
                      if (epoch != received->epoch) return;
                      if (loaded.ended) {
                        received->dropped = loaded.dropped;
                        return;
                      }
                      const auto values = loaded.tensors.at(0).as<std::int64_t>();
                      received->batches.emplace_back(values.begin(), values.end());
                      self->send(self, epoch, batch + 1);
                    },
                    [=](const caf::error& error) { received->errors.push_back(to_error(error)); });
          }};
}

/// A deterministic system with a loader whose worker w has the numbers 100*w, 100*w+1, ...: as many
/// as `lengths` says.
class StreamFixture {
 public:
  StreamFixture(StreamSettings settings, Values lengths, std::uint64_t seed,
                std::int64_t takes = 1000)
      : lengths_(std::move(lengths)), system_({.deterministic = true}), run_(system_, seed) {
    settings.workers = static_cast<int>(lengths_.size());
    loader_ = spawn_stream_loader(system_, std::make_shared<const StreamSource>(source()), settings,
                                  RunsOn::workers, std::make_shared<LoaderWatch>(settings.workers));
    consumer_ = system_.spawn(RunsOn::workers, consumer, loader_, takes, &received);
  }
  ~StreamFixture() { end(); }

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
  ActorSystem system_;
  DeterministicRun run_;
  StreamLoaderActor loader_;
  caf::actor consumer_;
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
      fixture.run().run();
      ASSERT_EQ(fixture.received.batches, expected.batches) << "seed " << seed;
      ASSERT_EQ(fixture.received.dropped, expected.dropped) << "seed " << seed;
    }
}

TEST(StreamLoaderActor, E2_ReadsNoFurtherThanItsCreditsAndOnlyWhenBegun) {
  for (const bool rebatched : {false, true})
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      StreamFixture fixture({.batch_rows = 2, .rebatched = rebatched, .buffered = 3}, {50, 50},
                            seed, 2);
      fixture.run().run();
      ASSERT_EQ(fixture.reads, 0);
      fixture.begin_epoch(0);
      fixture.run().run();
      ASSERT_EQ(fixture.reads, 2 * (2 + 3)) << "seed " << seed;
    }
}

TEST(StreamLoaderActor, R2_5_BeginsAgainCleanlyAtAnyMoment) {
  for (const Expectation& expected : expectations())
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      StreamFixture fixture(expected.settings, uneven, seed);
      fixture.begin_epoch(0);
      for (std::uint64_t step = 0; step < seed % 30; ++step) fixture.run().step();
      fixture.begin_epoch(1);
      fixture.run().run();
      ASSERT_EQ(fixture.received.batches, expected.batches) << "seed " << seed;
      ASSERT_EQ(fixture.received.dropped, expected.dropped) << "seed " << seed;
    }
}

TEST(StreamLoaderActor, R2_5_ReportsAnUnreadableSampleUnderAnyOrderAndGoesOnWithTheNextEpoch) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    StreamFixture fixture({.batch_rows = 2, .buffered = 3}, uneven, seed);
    fixture.unreadable = 3;
    fixture.begin_epoch(0);
    fixture.run().run();
    ASSERT_EQ(fixture.received.batches, (std::vector<Values>{{0, 1}, {200, 201}}));
    ASSERT_EQ(fixture.received.errors.size(), 1u);
    EXPECT_EQ(fixture.received.errors[0].code(), Errc::invalid_data);
    EXPECT_STREQ(fixture.received.errors[0].what(),
                 "data loader: reading sample 3 of worker 0's share failed: bad sector");
    fixture.unreadable = -1;
    fixture.begin_epoch(1);
    fixture.run().run();
    ASSERT_EQ(fixture.received.batches, (std::vector<Values>{{0, 1}, {200, 201}, {2, 3}}));
  }
}

TEST(StreamLoaderActor, R2_5_EndsWithItsWorkersAtAnyMoment) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    StreamFixture fixture({.batch_rows = 2, .buffered = 2}, uneven, seed);
    fixture.begin_epoch(0);
    for (std::uint64_t step = 0; step < seed % 40; ++step) fixture.run().step();
    ASSERT_EQ(fixture.end(), 0u);
  }
}

}  // namespace
}  // namespace penstock::actors
