// These tests make calls of a loader beside other calls, inside of others, and after its end.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>

#include "penstock/data_loader.hpp"
#include "tests/engine/kinds_of_loaders.hpp"
#include "tests/engine/numbered_batches.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::all_eight;
using testing::all_loader_kinds;
using testing::eight_samples;
using testing::HeldRead;
using testing::Latch;
using testing::LoaderKind;
using testing::numbered;
using testing::Numbers;
using testing::numbers_of;
using testing::refusal;
using testing::rest_of_eight;

TEST(DataLoaderCalls, AreRefusedWhileAnotherThreadsIsUnderWayWhichGoesOn) {
  for (const LoaderKind& kind : all_loader_kinds) {
    HeldRead held;
    DataLoader loader = eight_samples(kind, held.before(false));
    std::vector<std::int64_t> numbers;
    std::thread other([&] {
      // Until a read has begun, the call of this thread may meet skip_epochs() below.
      while (refusal(Errc::busy, [&] { numbers = rest_of_eight(loader); }) != "accepted") continue;
    });
    held.await_begin();
    while (refusal(Errc::busy, [&] { loader.skip_epochs(0); }) == "accepted")
      std::this_thread::yield();
    // The read that is held up keeps the other thread's call of next() from ending.
    const std::string text = " was called while next() is under way; it takes one call at a time";
    EXPECT_EQ(refusal(Errc::busy, [&] { loader.next(); }), "data loader: next()" + text);
    EXPECT_EQ(refusal(Errc::busy, [&] { loader.start_epoch(); }),
              "data loader: start_epoch()" + text);
    EXPECT_EQ(refusal(Errc::busy, [&] { loader.skip_epochs(1); }),
              "data loader: skip_epochs()" + text);
    EXPECT_EQ(refusal(Errc::busy, [&] { loader.position(); }), "data loader: position()" + text);
    EXPECT_EQ(refusal(Errc::busy, [&] { loader.seek({9, 0}); }), "data loader: seek()" + text);
    EXPECT_EQ(refusal(Errc::busy, [&] { loader.take_trace(); }),
              "data loader: take_trace()" + text);
    EXPECT_EQ(refusal(Errc::busy, [&] { loader.close(); }), "data loader: close()" + text);
    EXPECT_EQ(loader.batches(), 4);
    EXPECT_EQ(loader.samples_per_batch(), 2);
    EXPECT_EQ(loader.last_batch_samples(), 2);
    EXPECT_EQ(loader.dropped_samples(), 0);
    EXPECT_EQ(loader.note(), "");
    held.let_go();
    other.join();
    EXPECT_EQ(numbers, all_eight(kind)) << kind.name;
    loader.start_epoch();
    EXPECT_EQ(rest_of_eight(loader), all_eight(kind)) << kind.name;
  }
}

TEST(DataLoaderCalls, OfALoadersOwnSamplerAreRefused) {
  DataLoader* loader = nullptr;
  std::string text;
  DataLoader sampled(numbered(4), 2, {.sampler = [&](std::uint64_t) {
                       if (loader) text = refusal(Errc::busy, [&] { loader->next(); });
                       return Numbers{3, 2, 1, 0};
                     }});
  loader = &sampled;
  sampled.next();
  sampled.start_epoch();
  EXPECT_EQ(text,
            "data loader: next() was called while start_epoch() is under way; it takes one call at "
            "a time");
  EXPECT_EQ(numbers_of(*sampled.next()), (Numbers{3, 2}));
}

TEST(DataLoaderCalls, AreRefusedAfterItsEndAndBatchesThatAreHeldStay) {
  for (const LoaderKind& kind : all_loader_kinds) {
    DataLoader loader = eight_samples(kind, [](std::int64_t, const std::stop_token&) {});
    const auto batch = loader.next();
    const ClosedLoader closed = loader.close();
    EXPECT_EQ(closed.threads_left, 0);
    const std::string text = "data loader: it was closed; make a new one";
    EXPECT_EQ(refusal(Errc::closed, [&] { loader.next(); }), text) << kind.name;
    EXPECT_EQ(refusal(Errc::closed, [&] { loader.start_epoch(); }), text) << kind.name;
    EXPECT_EQ(loader.close().threads_left, 0);
    EXPECT_EQ(batch->back().as<std::int64_t>()[0], 0);
    EXPECT_EQ(loader.batches(), 4);
  }
}

/// A Nested is a dataset that reads its samples from another loader.
class Nested : public Dataset {
 public:
  std::int64_t size() const override { return 4; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    DataLoader inner(numbered(8), 4, {.workers = 2});
    inner.start_epoch();
    inner.next();
    const std::int64_t number = numbers_of(*inner.next())[static_cast<std::size_t>(request.index)];
    std::memcpy(destinations[0], &number, sizeof number);
  }

 private:
  std::vector<Field> fields_{{"number", DType::i64, {}}};
};

TEST(DataLoaderCalls, MayComeFromADatasetThatAnotherLoaderReads) {
  DataLoader loader(std::make_shared<Nested>(), 2, {.workers = 2});
  EXPECT_EQ(rest_of_eight(loader), (Numbers{4, 5, 6, 7}));
}

TEST(DataLoaderCalls, MayComeFromTheLogOfAnotherLoader) {
  HeldRead held;
  Latch gone;
  Numbers numbers;
  const DataLoaderOptions options{.stop_seconds = 0, .log = [&](std::string_view) {
                                    DataLoader other(numbered(4), 4);
                                    numbers = numbers_of(*other.next());
                                  }};
  {
    DataLoader loader =
        eight_samples(all_loader_kinds[0], held.before(false), options, [gone] { gone.open(); });
    loader.start_epoch();
    held.await_begin();
  }
  EXPECT_EQ(numbers, (Numbers{0, 1, 2, 3}));
  held.let_go();
  EXPECT_TRUE(gone.wait());
}

}  // namespace
}  // namespace penstock
