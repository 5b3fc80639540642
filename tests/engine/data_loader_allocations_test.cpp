// In these tests each allocation of a loader's life fails in turn. The host gets Error
// out_of_memory and no other exception, nothing hangs, and what is read afterwards is right.
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"
#include "tests/engine/kinds_of_loaders.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/latch.hpp"

namespace penstock {
namespace {

using testing::all_eight;
using testing::all_loader_kinds;
using testing::LoaderKind;

/// An Outcome says how an attempt has ended. It allocates nothing, because that might fail.
struct Outcome {
  int whole_epochs = 0;
  int broken_epochs = 0;  // In this many epochs, the same refusal came again and again.
  bool is_right = true;   // If this is true, all batches that came were right.
  Errc refusal = Errc::internal;
  bool refused = false;
  bool other_exception = false;
};

/// Calls `call` until it is not refused for want of memory, 20 times at most. Returns whether it
/// was accepted.
bool insist(const auto& call) {
  for (int attempt = 0; attempt < 20; ++attempt) try {
      call();
      return true;
    } catch (const Error& error) {
      if (error.code() != Errc::out_of_memory) throw;
    }
  return false;
}

class Attempt {
 public:
  explicit Attempt(const LoaderKind& kind) : kind_(kind), expected_(all_eight(kind)) {
    options_.mode = kind.mode;
    options_.workers = kind.workers;
    options_.shuffle = false;
    options_.timeout_seconds = 30;
  }

  /// Makes a loader, reads three epochs of it, beginning the second one in the middle of the first,
  /// and destroys the loader. Allocation number `first` of all of these fails. Returns whether
  /// there was an allocation of that number.
  bool live_while_failing(std::int64_t first) {
    outcome_ = {};
    const testing::AllocationFailures failures(first);
    noting(outcome_, [&] {
      DataLoader loader = made();
      read_epochs(loader, outcome_);
    });
    return failures.reached();
  }

  /// Makes a loader, and reads three epochs of it as live_while_failing() does. `count` allocations
  /// fail, beginning with allocation number `first` of the loader's calls. Returns whether at least
  /// one of these was reached.
  bool call_while_failing(std::int64_t first, std::int64_t count) {
    outcome_ = {};
    DataLoader loader = made();
    const testing::AllocationFailures failures(first, count);
    noting(outcome_, [&] { read_epochs(loader, outcome_); });
    return failures.reached();
  }
  const Outcome& outcome() const { return outcome_; }

 private:
  DataLoader made() const {
    return kind_.streams ? DataLoader(streams_, 2, options_) : DataLoader(samples_, 2, options_);
  }

  static void noting(Outcome& outcome, const auto& life) {
    try {
      life();
    } catch (const Error& error) {
      outcome.refused = true;
      outcome.refusal = error.code();
    } catch (...) {
      outcome.other_exception = true;
    }
  }

  void read_epochs(DataLoader& loader, Outcome& outcome) {
    insist([&] { loader.next(); });
    for (int epoch = 0; epoch < 2; ++epoch) {
      if (!insist([&] { loader.start_epoch(); })) return;
      ++(read_epoch(loader, outcome) ? outcome.whole_epochs : outcome.broken_epochs);
    }
  }

  bool read_epoch(DataLoader& loader, Outcome& outcome) {
    std::size_t next = 0;
    for (;;) {
      std::optional<Batch> batch;
      if (!insist([&] { batch = loader.next(); })) return false;
      if (!batch) break;
      for (const std::int64_t number : batch->back().as<std::int64_t>())
        outcome.is_right &= next < expected_.size() && expected_[next++] == number;
    }
    outcome.is_right &= next == expected_.size();
    return true;
  }

  LoaderKind kind_;
  std::vector<std::int64_t> expected_;
  Outcome outcome_;
  DataLoaderOptions options_;
  std::shared_ptr<testing::NumberedSamples> samples_ =
      std::make_shared<testing::NumberedSamples>(8);
  std::shared_ptr<testing::NumberedStreams> streams_ =
      std::make_shared<testing::NumberedStreams>(8);
};

void expect_well(const Outcome& outcome, const std::string& where) {
  EXPECT_FALSE(outcome.other_exception) << where;
  EXPECT_TRUE(outcome.is_right) << where;
  EXPECT_LE(outcome.broken_epochs, 1) << where;
  if (!outcome.refused) return;
  EXPECT_EQ(outcome.refusal, Errc::out_of_memory) << where;
}

/// These are the positions in all_loader_kinds of one kind of loader for each way to allocate.
const std::vector<std::size_t> kinds{1, 3, 5, 8};

/// Calls `fails(attempt, first)` for each kind, with `first` from 1 on in steps of `stride`, until
/// `fails` returns false because no allocation has failed. Expects that `first` comes beyond
/// `least`, and that every attempt goes well.
void expect_well_from_each(std::int64_t stride, std::int64_t least,
                           const std::function<bool(Attempt&, std::int64_t)>& fails) {
  for (const std::size_t number : kinds) {
    const LoaderKind& kind = all_loader_kinds[number];
    Attempt attempt(kind);
    std::int64_t first = 1;
    for (; fails(attempt, first); first += stride)
      expect_well(attempt.outcome(), kind.name + ", allocation " + std::to_string(first));
    EXPECT_GT(first, least) << kind.name;
    EXPECT_EQ(attempt.outcome().whole_epochs, 2) << kind.name;
  }
}

TEST(DataLoaderAllocations, ThatFailFromBeginningToEndAreOutOfMemoryAndNothingElse) {
  expect_well_from_each(1, 60, [](Attempt& attempt, std::int64_t first) {
    return attempt.live_while_failing(first);
  });
}

TEST(DataLoaderAllocations, ThatFailDuringCallsAreOutOfMemoryAndLoseNothing) {
  expect_well_from_each(1, 30, [](Attempt& attempt, std::int64_t first) {
    return attempt.call_while_failing(first, 1);
  });
}

TEST(DataLoaderAllocations, ThatFailInARowDuringCallsAreOutOfMemoryAndLoseNothing) {
  expect_well_from_each(7, 30, [](Attempt& attempt, std::int64_t first) {
    return attempt.call_while_failing(first, 10);
  });
}

/// Returns the text of the error that `call` throws if its first allocation fails, or "accepted".
std::string text_without_memory(const auto& call) {
  std::string text = "accepted";
  try {
    const testing::AllocationFailures failures(1, 1, testing::FailsOn::this_thread);
    call();
  } catch (const Error& error) {
    text = error.what();
  }
  return text;
}

TEST(DataLoaderAllocations, ThatFailAreRefusedByTheNameOfTheCall) {
  const auto samples = std::make_shared<testing::NumberedSamples>(8);
  const auto sampler = [](std::uint64_t) -> std::vector<std::int64_t> { return {1, 2, 3, 4, 5}; };
  const auto call = [&](const auto& act) {
    DataLoader loader(samples, 2, {.drop_last = false, .sampler = sampler});
    return text_without_memory([&] { act(loader); });
  };
  EXPECT_EQ(text_without_memory([&] { DataLoader(samples, 2); }),
            "the constructor of a DataLoader: not enough memory");
  EXPECT_EQ(call([](DataLoader& loader) { loader.next(); }), "DataLoader::next: not enough memory");
  EXPECT_EQ(call([](DataLoader& loader) { loader.start_epoch(); }),
            "DataLoader::start_epoch: not enough memory");
  EXPECT_EQ(call([](DataLoader& loader) { loader.skip_epochs(1); }),
            "DataLoader::skip_epochs: not enough memory");
}

TEST(DataLoaderAllocations, AreNotNeededForItsEnd) {
  for (const LoaderKind& kind : all_loader_kinds)
    for (int batches = 0; batches < 3; ++batches) {
      const testing::Latch gone;
      std::optional<DataLoader> loader = testing::eight_samples(
          kind, [](std::int64_t, const std::stop_token&) {}, {}, [gone] { gone.open(); });
      for (int batch = 0; batch < batches; ++batch) loader->next();
      {
        const testing::AllocationFailures failures(1, 1'000'000);
        loader.reset();
      }
      EXPECT_TRUE(gone.wait()) << kind.name << ": the dataset is still held";
    }
}

}  // namespace
}  // namespace penstock
