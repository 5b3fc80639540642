// A loader goes on at the position of another one. These tests cover every kind of loader.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"
#include "tests/engine/kinds_of_loaders.hpp"
#include "tests/engine/numbered_batches.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::all_eight;
using testing::all_loader_kinds;
using testing::eight_samples;
using testing::LoaderKind;
using testing::next_epoch;
using testing::numbered;
using testing::Numbers;
using testing::numbers_of;
using testing::refusal;
using testing::rest_of_eight;
using testing::rest_of_epoch;

const auto nothing = [](std::int64_t, const std::stop_token&) {};

TEST(DataLoaderPositions, CountTheBatchesThatWereTaken) {
  for (const LoaderKind& kind : all_loader_kinds) {
    DataLoader loader = eight_samples(kind, nothing);
    EXPECT_EQ(loader.position(), (LoaderPosition{0, 0})) << kind.name;
    for (std::int64_t taken = 1; taken <= 4; ++taken) {
      loader.next();
      EXPECT_EQ(loader.position(), (LoaderPosition{0, taken})) << kind.name;
    }
    EXPECT_EQ(loader.next(), std::nullopt);
    EXPECT_EQ(loader.position(), (LoaderPosition{0, 4})) << "the end is no batch; " << kind.name;
    loader.start_epoch();
    EXPECT_EQ(loader.position(), (LoaderPosition{1, 0, 0, true})) << kind.name;
    loader.next();
    loader.skip_epochs(2);
    EXPECT_EQ(loader.position(), (LoaderPosition{1, 1, 2})) << "the epoch goes on; " << kind.name;
    DataLoader later = eight_samples(kind, nothing);
    later.seek(loader.position());
    EXPECT_EQ(later.position(), loader.position()) << kind.name;
    later.start_epoch();
    EXPECT_EQ(later.position(), (LoaderPosition{4, 0, 0, true})) << kind.name;
    loader.start_epoch();
    EXPECT_EQ(loader.position(), (LoaderPosition{4, 0, 0, true})) << kind.name;
  }
}

TEST(DataLoaderPositions, AreWhereALoaderOfEveryKindGoesOn) {
  for (const LoaderKind& kind : all_loader_kinds)
    for (std::int64_t taken = 0; taken <= 4; ++taken) {
      DataLoader loader = eight_samples(kind, nothing);
      loader.seek({3, taken});
      EXPECT_EQ(loader.position(), (LoaderPosition{3, taken})) << kind.name;
      std::vector<std::int64_t> rest = all_eight(kind);
      rest.erase(rest.begin(), rest.begin() + 2 * taken);
      EXPECT_EQ(rest_of_eight(loader), rest) << kind.name << ", from batch " << taken;
      loader.start_epoch();
      EXPECT_EQ(loader.position(), (LoaderPosition{4, 0, 0, true})) << kind.name;
      EXPECT_EQ(rest_of_eight(loader), all_eight(kind)) << kind.name;
    }
}

TEST(DataLoaderPositions, BeforeTheFirstBatchOfAnEpochAreBeforeItsBegin) {
  for (const LoaderKind& kind : all_loader_kinds) {
    DataLoader loader = eight_samples(kind, nothing);
    loader.next();
    loader.seek({3, 0});
    EXPECT_EQ(loader.position(), (LoaderPosition{3, 0})) << kind.name;
    loader.start_epoch();
    EXPECT_EQ(loader.position(), (LoaderPosition{3, 0, 0, true})) << kind.name;
    EXPECT_EQ(rest_of_eight(loader), all_eight(kind)) << kind.name;
    loader.start_epoch();
    EXPECT_EQ(loader.position(), (LoaderPosition{4, 0, 0, true})) << kind.name;
  }
}

TEST(DataLoaderPositions, AreWhereEveryCallDoesTheSame) {
  const std::vector<std::function<void(DataLoader&)>> ways = {
      [](DataLoader&) {},
      [](DataLoader& loader) { loader.skip_epochs(1); },
      [](DataLoader& loader) { loader.start_epoch(); },
      [](DataLoader& loader) { loader.start_epoch(), loader.skip_epochs(1); },
      [](DataLoader& loader) { loader.next(); },
      [](DataLoader& loader) { loader.next(), loader.skip_epochs(2); },
      [](DataLoader& loader) { loader.next(), loader.start_epoch(); },
      [](DataLoader& loader) {
        loader.seek({2, 0});
      }};
  const std::vector<std::function<void(DataLoader&)>> calls = {
      [](DataLoader& loader) { loader.next(); }, [](DataLoader& loader) { loader.start_epoch(); },
      [](DataLoader& loader) { loader.skip_epochs(1); }};
  for (const LoaderKind& kind : all_loader_kinds)
    for (std::size_t way = 0; way < ways.size(); ++way)
      for (std::size_t call = 0; call < calls.size(); ++call) {
        DataLoader loader = eight_samples(kind, nothing), later = eight_samples(kind, nothing);
        ways[way](loader);
        later.seek(loader.position());
        EXPECT_EQ(later.position(), loader.position()) << kind.name << ", way " << way;
        for (DataLoader* const each : {&loader, &later}) calls[call](*each);
        const std::string name =
            kind.name + ", way " + std::to_string(way) + ", call " + std::to_string(call);
        EXPECT_EQ(later.position(), loader.position()) << name;
        EXPECT_EQ(rest_of_eight(later), rest_of_eight(loader)) << name;
        EXPECT_EQ(later.position(), loader.position()) << name;
      }
}

struct OrderCase {
  std::string name;
  std::function<DataLoader()> make;
};

std::vector<OrderCase> order_cases() {
  const Sampler later_from_the_back = [](std::uint64_t epoch) {
    Numbers order(37);
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<std::int64_t>((i * 5 + epoch * 7) % 37);
    return order;
  };
  const BatchSampler growing = [](std::uint64_t epoch) {
    std::vector<Numbers> batches;
    for (std::int64_t size = 1; size < 7; ++size)
      batches.push_back(Numbers(static_cast<std::size_t>(size), static_cast<std::int64_t>(epoch)));
    return batches;
  };
  const auto of = [](const DataLoaderOptions& options) {
    return [options] { return DataLoader(numbered(37), 5, options); };
  };
  return {{"shuffled", of({.shuffle = true, .seed = 3})},
          {"shuffled, with a short last batch", of({.shuffle = true, .drop_last = false})},
          {"a partition", of({.shuffle = true, .seed = 1, .partition = {1, 3}})},
          {"a sampler", of({.sampler = later_from_the_back})},
          {"a batch sampler", [growing] { return DataLoader(numbered(37), growing, 2); }}};
}

TEST(DataLoaderPositions, KeepTheOrderOfTheEpoch) {
  for (const OrderCase& one : order_cases()) {
    DataLoader whole = one.make();
    std::vector<std::vector<Numbers>> epochs;
    for (int epoch = 0; epoch < 3; ++epoch) epochs.push_back(next_epoch(whole));
    for (std::size_t taken = 0; taken <= epochs[1].size(); ++taken) {
      DataLoader late = one.make();
      late.seek({1, static_cast<std::int64_t>(taken)});
      const std::vector<Numbers> rest(epochs[1].begin() + static_cast<std::ptrdiff_t>(taken),
                                      epochs[1].end());
      EXPECT_EQ(rest_of_epoch(late), rest) << one.name << ", from batch " << taken;
      EXPECT_EQ(next_epoch(late), epochs[2]) << one.name;
    }
  }
}

TEST(DataLoaderPositions, LeaveNumberedSamplesUnreadThatAreBeforeThem) {
  const auto dataset = numbered(40);
  std::atomic<bool> early = false;
  dataset->before_request = [&](const SampleRequest& request) {
    early = early || request.index < 30;
  };
  DataLoader loader(dataset, 10);
  loader.seek({0, 3});
  EXPECT_EQ(numbers_of(*loader.next()).front(), 30);
  EXPECT_FALSE(early);
}

TEST(DataLoaderPositions, AreRefusedIfTheyDoNotExist) {
  DataLoader loader(numbered(40), 10);
  loader.start_epoch();
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] {
                      loader.seek({0, 1});
                    }),
            "data loader: seek: expected an epoch that has not begun, 1 or a later one, got 0; a "
            "new loader can go there");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] {
                      loader.seek({1, -1});
                    }),
            "data loader: seek: expected 0 batches or more, got -1");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] {
                      loader.seek({1, 5});
                    }),
            "data loader: seek: expected at most 4 batches, which epoch 1 has, got 5");
  loader.seek({1, 4});
  EXPECT_EQ(loader.next(), std::nullopt);
  DataLoader streams = eight_samples({"streams", true}, nothing);
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] {
                      streams.seek({0, 5});
                    }),
            "data loader: seek: expected at most 4 batches, which epoch 0 has, got 5");
}

TEST(DataLoaderPositions, ChangeNothingIfTheyAreRefused) {
  for (const OrderCase& one : order_cases()) {
    DataLoader loader = one.make();
    const auto far = [&] { loader.seek({7, 1000}); };
    EXPECT_NE(refusal(Errc::invalid_argument, far), "accepted") << one.name;
    EXPECT_EQ(loader.position(), LoaderPosition()) << one.name;
    DataLoader other = one.make();
    EXPECT_EQ(next_epoch(loader), next_epoch(other)) << one.name;
  }
}

TEST(DataLoaderPositions, CanBeSoughtAgainAfterAStopHasEndedTheReadingOfStreams) {
  DataLoader streams = eight_samples({"streams", true}, nothing);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_NE(refusal(Errc::cancelled, [&] { streams.seek({0, 2}, stop.get_token()); }), "accepted");
  streams.seek({1, 2});
  EXPECT_EQ(rest_of_eight(streams), (Numbers{4, 5, 6, 7}));
}

}  // namespace
}  // namespace penstock
