// These tests check that a dataset whose code blocks is asked to stop, is waited for within bounds,
// and at worst is left behind with all that it uses.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "graph/values/memory.hpp"
#include "penstock/data_loader.hpp"
#include "tests/engine/kinds_of_loaders.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock {
namespace {

using testing::all_eight;
using testing::all_loader_kinds;
using testing::eight_samples;
using testing::HeldRead;
using testing::Latch;
using testing::LoaderKind;
using testing::refusal;
using testing::rest_of_eight;

/// Begins an epoch and calls next() until a read is held, and then cancels the wait for a batch.
/// Returns once the wait was cancelled, or the epoch is over, as it may be if the read that is held
/// belongs to an earlier epoch.
void begin_reading(DataLoader& loader, const HeldRead& held) {
  loader.start_epoch();
  std::stop_source source;
  std::thread stopper([&] {
    held.await_begin();
    source.request_stop();
  });
  try {
    while (loader.next(source.get_token())) {
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::cancelled) << error.what();
  }
  stopper.join();
}

TEST(DataLoaderStops, AreAskedOfADatasetThatBlocksWhenTheLoaderIsClosed) {
  for (const LoaderKind& kind : all_loader_kinds) {
    HeldRead held;
    Latch gone;
    {
      DataLoader loader =
          eight_samples(kind, held.before(true), {.stop_seconds = 1e6}, [gone] { gone.open(); });
      begin_reading(loader, held);
      const ClosedLoader closed = loader.close();
      EXPECT_EQ(closed.threads_left, 0) << kind.name;
      EXPECT_EQ(closed.note, "") << kind.name;
      EXPECT_TRUE(gone.wait()) << kind.name << ": closing lets go of the dataset";
    }
  }
}

TEST(DataLoaderStops, AreAskedOfADatasetThatBlocksWhenTheLoaderIsDestroyed) {
  for (const LoaderKind& kind : all_loader_kinds) {
    const std::size_t threads = testing::thread_count();
    HeldRead held;
    {
      DataLoader loader = eight_samples(kind, held.before(true), {.stop_seconds = 1e6});
      begin_reading(loader, held);
    }
    EXPECT_TRUE(testing::threads_fall_to(threads)) << kind.name;
  }
}

TEST(DataLoaderStops, LeaveBehindWhatDoesNotStopAndItFreesAllThatItUsesWhenItReturns) {
  const std::size_t threads = testing::thread_count();
  const auto bytes = memory_counters().bytes_live;
  for (const LoaderKind& kind : all_loader_kinds) {
    HeldRead held;
    Latch gone;
    const auto is_gone = std::make_shared<std::atomic<bool>>(false);
    std::vector<std::string> log;
    const DataLoaderOptions options{.stop_seconds = 0.001,
                                    .log = [&](std::string_view line) { log.emplace_back(line); }};
    {
      DataLoader loader = eight_samples(kind, held.before(false), options, [=] {
        *is_gone = true;
        gone.open();
      });
      begin_reading(loader, held);
      const ClosedLoader closed = loader.close();
      // The thread of another worker counts, too, if that thread is slow to end.
      EXPECT_GE(closed.threads_left, 1) << kind.name;
      EXPECT_LE(closed.threads_left, std::max(1, kind.workers)) << kind.name;
      EXPECT_NE(closed.note.find(" has not finished reading sample "), std::string::npos)
          << closed.note;
      EXPECT_NE(closed.note.find(" within 0.001 s of being asked to stop; "), std::string::npos)
          << closed.note;
      EXPECT_EQ(log, std::vector{closed.note});
      EXPECT_GE(loader.close().threads_left, 1) << kind.name;
    }
    EXPECT_EQ(log.size(), 1u) << "it is said once";
    EXPECT_FALSE(*is_gone) << kind.name;
    held.let_go();
    EXPECT_TRUE(gone.wait()) << kind.name;
  }
  EXPECT_TRUE(testing::threads_fall_to(threads));
  EXPECT_EQ(memory_counters().bytes_live, bytes);
}

TEST(DataLoaderStops, OfADestructorTellTheLogWhatIsLeftBehindWhateverThatThrows) {
  HeldRead held;
  Latch gone;
  std::vector<std::string> log;
  const DataLoaderOptions options{.stop_seconds = 0, .log = [&](std::string_view line) {
                                    log.emplace_back(line);
                                    throw std::runtime_error("the log is full");
                                  }};
  {
    DataLoader loader =
        eight_samples(all_loader_kinds[0], held.before(false), options, [gone] { gone.open(); });
    begin_reading(loader, held);
  }
  EXPECT_EQ(log, std::vector<std::string>{
                     "data loader: worker 0 has not finished reading sample 0 within 0 s of being "
                     "asked to stop; its thread is left behind until the dataset returns"});
  held.let_go();
  EXPECT_TRUE(gone.wait());
}

/// A SlowEnd is a dataset whose streams end only when `held` is let go.
class SlowEnd : public IterableDataset {
 public:
  SlowEnd(const HeldRead& held, const Latch& gone) : held_(held), gone_(gone) {}
  ~SlowEnd() override { gone_.open(); }
  const std::vector<Field>& fields() const override { return fields_; }
  std::unique_ptr<SampleStream> begin(const WorkerInfo&) const override {
    return std::make_unique<Stream>(held_);
  }

 private:
  struct Stream : SampleStream {
    explicit Stream(const HeldRead& held) : held_read(held) {}
    ~Stream() override { held_read.before(false)(0, {}); }
    bool next(std::span<std::byte* const>, const std::stop_token&) override { return true; }
    HeldRead held_read;
  };

  HeldRead held_;
  Latch gone_;
  std::vector<Field> fields_{{"x", DType::f32, {}}};
};

TEST(DataLoaderStops, LeaveBehindAStreamThatDoesNotEnd) {
  HeldRead held;
  Latch gone;
  {
    DataLoader loader(std::make_shared<SlowEnd>(held, gone), 2,
                      {.workers = 1, .stop_seconds = 0.001});
    EXPECT_TRUE(loader.next());
    const ClosedLoader closed = loader.close();
    EXPECT_EQ(closed.threads_left, 1);
    EXPECT_EQ(closed.note,
              "data loader: worker 0 has not ended within 0.001 s of being asked to "
              "stop; its thread is left behind until the dataset returns");
  }
  held.let_go();
  EXPECT_TRUE(gone.wait());
}

// The test leaves the thread behind in a process of its own, which has a minute to end.
TEST(DataLoaderStops, LetTheProcessEndWhileAThreadIsLeftBehind) {
  const auto leave_and_exit = [] {
    ::alarm(60);
    const HeldRead held;
    {
      DataLoader loader =
          eight_samples(all_loader_kinds[0], held.before(false), {.stop_seconds = 0});
      begin_reading(loader, held);
    }
    std::exit(0);
  };
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(leave_and_exit(), ::testing::ExitedWithCode(0), "");
}

TEST(DataLoaderStops, OfTheLastEpochsReadsLetTheNextOneBegin) {
  for (const LoaderKind& kind : all_loader_kinds) {
    HeldRead held;
    DataLoader loader = eight_samples(kind, held.before(true));
    begin_reading(loader, held);
    loader.start_epoch();
    EXPECT_EQ(rest_of_eight(loader), all_eight(kind)) << kind.name;
  }
}

TEST(DataLoaderStops, ThatTheLastEpochsReadsIgnoreAreAStallAndNoMore) {
  for (const LoaderKind& kind : all_loader_kinds) {
    if (kind.workers > 1) continue;  // With several workers, other workers could read on.
    HeldRead held;
    DataLoader loader = eight_samples(kind, held.before(false), {.timeout_seconds = 0.02});
    begin_reading(loader, held);
    loader.start_epoch();
    EXPECT_NE(refusal(Errc::stalled, [&] { loader.next(); })
                  .find("worker 0 has not finished reading sample 0"),
              std::string::npos)
        << kind.name;
    held.let_go();
    EXPECT_EQ(testing::patient_rest_of_eight(loader), all_eight(kind)) << kind.name;
  }
}

TEST(DataLoaderStops, OfAWaitLoseNoBatchAndChangeNone) {
  for (const LoaderKind& kind : all_loader_kinds) {
    HeldRead held;
    DataLoader loader = eight_samples(kind, held.before(false));
    std::stop_source source;
    source.request_stop();
    const std::string text = refusal(Errc::cancelled, [&] { loader.next(source.get_token()); });
    EXPECT_EQ(text,
              "data loader: the wait for batch 0 of the epoch was cancelled; the next call waits "
              "for it again");
    begin_reading(loader, held);
    held.let_go();
    // The loop asks for batches until the epoch ends, and cancels two of three waits.
    std::vector<std::int64_t> numbers;
    for (int attempt = 0;; ++attempt) try {
        std::stop_source later;
        std::thread stopper([&] {
          if (attempt % 3 != 2) later.request_stop();
        });
        struct Joined {
          std::thread& thread;
          ~Joined() { thread.join(); }
        } joined{stopper};
        const auto batch = loader.next(later.get_token());
        if (!batch) break;
        const auto labels = batch->back().as<std::int64_t>();
        numbers.insert(numbers.end(), labels.begin(), labels.end());
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), Errc::cancelled) << error.what();
      }
    const auto all = all_eight(kind);
    ASSERT_LE(numbers.size(), all.size());
    EXPECT_EQ(numbers,
              std::vector(all.end() - static_cast<std::ptrdiff_t>(numbers.size()), all.end()))
        << kind.name;
    loader.start_epoch();
    EXPECT_EQ(rest_of_eight(loader), all) << kind.name;
  }
}

TEST(DataLoaderStops, OfAWaitLeaveTheReadingAlone) {
  for (const LoaderKind& kind : all_loader_kinds) {
    std::atomic<bool> asked{false};
    HeldRead held;
    const auto hold = held.before(false);
    DataLoader loader = eight_samples(kind, [&](std::int64_t sample, const std::stop_token& stop) {
      hold(sample, stop);
      asked = asked || stop.stop_requested();
    });
    begin_reading(loader, held);
    held.let_go();
    rest_of_eight(loader);
    EXPECT_FALSE(asked) << kind.name;
  }
}

}  // namespace
}  // namespace penstock
