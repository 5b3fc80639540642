// In these tests a process with loaders is forked. The child's calls of the loaders are refused,
// its destructors return, and the parent's loaders go on.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/data_loader.hpp"
#include "tests/engine/kinds_of_loaders.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/sanitized.hpp"

namespace penstock {
namespace {

using testing::all_eight;
using testing::all_loader_kinds;
using testing::eight_samples;
using testing::HeldRead;
using testing::Latch;
using testing::LoaderKind;
using testing::rest_of_eight;
using testing::sanitized;

/// Forks the process, and returns whether `claim` returns true in the child within a minute.
bool holds_in_a_child(const std::function<bool()>& claim) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(claim() ? 0 : 1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() == Errc::closed &&
           std::string(error.what()) ==
               "data loader: it belongs to the process that made it, from which this one was "
               "forked; make a new one here";
  }
  return false;
}

/// Returns in the child whether the loader refuses all calls, can be destroyed, and is no obstacle
/// to a new loader. Under sanitizers no new loader is made: the thread sanitizer does not start its
/// threads in the child, and the address sanitizer's allocator may wait there for a lock that a
/// thread of the parent held when the child was forked.
bool is_left_alone(std::optional<DataLoader>& loader, const LoaderKind& kind) {
  const bool refuses =
      is_refused([&] { loader->next(); }) && is_refused([&] { loader->start_epoch(); }) &&
      is_refused([&] { loader->skip_epochs(1); }) && is_refused([&] { loader->take_trace(); }) &&
      is_refused([&] { loader->close(); });
  const bool counts = loader->batches() == 4;
  loader.reset();
  if (sanitized) return refuses && counts;
  DataLoader loader_of_child = eight_samples(kind, [](std::int64_t, const std::stop_token&) {});
  return refuses && counts && rest_of_eight(loader_of_child) == all_eight(kind);
}

TEST(DataLoaderForks, LeaveTheLoaderToTheParentBeforeInAndAfterAnEpoch) {
  for (const LoaderKind& kind : all_loader_kinds) {
    std::optional<DataLoader> loader =
        eight_samples(kind, [](std::int64_t, const std::stop_token&) {});
    const auto child = [&] { return is_left_alone(loader, kind); };
    EXPECT_TRUE(holds_in_a_child(child)) << kind.name;
    loader->start_epoch();
    EXPECT_TRUE(holds_in_a_child(child)) << kind.name;
    auto batch = loader->next();
    EXPECT_TRUE(holds_in_a_child([&] {
      batch.reset();  // The batch's memory has no loader in the child to which it could go back.
      return child();
    })) << kind.name;
    batch.reset();
    rest_of_eight(*loader);
    EXPECT_TRUE(holds_in_a_child(child)) << kind.name;
    loader->start_epoch();
    EXPECT_EQ(rest_of_eight(*loader), all_eight(kind)) << kind.name;
  }
}

TEST(DataLoaderForks, LeaveTheLoaderToTheParentWhileAnotherThreadIsInACall) {
  for (const LoaderKind& kind : all_loader_kinds) {
    HeldRead held;
    std::optional<DataLoader> loader = eight_samples(kind, held.before(false));
    std::vector<std::int64_t> numbers;
    std::thread other([&] { numbers = rest_of_eight(*loader); });
    held.await_begin();
    EXPECT_TRUE(holds_in_a_child([&] { return is_left_alone(loader, kind); })) << kind.name;
    held.let_go();
    other.join();
    EXPECT_EQ(numbers, all_eight(kind)) << kind.name;
  }
}

/// Returns a loader of each constructor. The functions of the host's that these loaders call hold
/// `kept`.
std::vector<DataLoader> loaders_that_hold(const std::shared_ptr<int>& kept) {
  const auto samples = std::make_shared<testing::NumberedSamples>(2);
  const std::vector<std::int64_t> order{1, 0};
  std::vector<DataLoader> loaders;
  loaders.emplace_back(
      samples, 2, DataLoaderOptions{.sampler = [kept, order](std::uint64_t) { return order; }});
  loaders.emplace_back(
      samples,
      [kept, order](std::uint64_t) { return std::vector<std::vector<std::int64_t>>{order}; }, 1,
      DataLoaderOptions());
  loaders.emplace_back(std::make_shared<testing::NumberedStreams>(2), 2,
                       DataLoaderOptions{.log = [kept](std::string_view) {}});
  return loaders;
}

TEST(DataLoaderForks, FreeNothingOfTheHostsInTheChild) {
  auto kept = std::make_shared<int>();
  const std::weak_ptr<int> seen = kept;
  std::vector<DataLoader> loaders = loaders_that_hold(std::exchange(kept, nullptr));
  const auto holders = seen.use_count();
  EXPECT_GE(holders, 3);
  EXPECT_TRUE(holds_in_a_child([&] {
    loaders.clear();
    return seen.use_count() == holders;
  }));
  EXPECT_TRUE(holds_in_a_child([&] {
    for (DataLoader& loader : loaders)
      loader = DataLoader(std::make_shared<testing::NumberedSamples>(2), 2);
    return seen.use_count() == holders && loaders[2].next().has_value();
  }));
  loaders.clear();
  EXPECT_TRUE(seen.expired());
}

TEST(DataLoaderForks, EndTheChildOfADatasetInWhichTheDatasetsCodeReturns) {
  if (sanitized) return;  // Forked children of a process with threads may hang under sanitizers.
  for (const LoaderKind& kind : all_loader_kinds) {
    std::atomic<bool> forks = true;
    std::atomic<pid_t> child = 0;
    DataLoader loader = eight_samples(kind, [&](std::int64_t, const std::stop_token&) {
      if (!forks.exchange(false)) return;
      if (const pid_t process = ::fork(); process != 0) child = process;
    });
    EXPECT_EQ(rest_of_eight(loader), all_eight(kind)) << kind.name;
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child) << kind.name;
    EXPECT_TRUE(WIFEXITED(status)) << kind.name;
    EXPECT_EQ(WEXITSTATUS(status), 1) << kind.name;
  }
}

/// A ForkAtStop forks the process, once, when a read is asked to stop on the thread that made the
/// ForkAtStop.
class ForkAtStop {
 public:
  /// Returns a function that a dataset has to call before each read. It waits until it is asked to
  /// stop, for a minute at most.
  testing::BeforeRead before() {
    return [this](std::int64_t, const std::stop_token& stop) {
      const std::stop_callback fork_once(stop, [this] {
        if (std::this_thread::get_id() != host_ || process_ >= 0) return;
        process_ = ::fork();
        if (process_ == 0) ::alarm(60);
      });
      reading_.open();
      const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
      while (!stop.stop_requested() && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    };
  }
  void await_read() const { EXPECT_TRUE(reading_.wait()); }
  bool is_child() const { return process_ == 0; }
  /// Returns the code with which the child has ended, or -1 if it was not made or was killed.
  int child_code() const {
    int status = 0;
    const bool ended = process_ > 0 && ::waitpid(process_, &status, 0) == process_;
    return ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  const std::thread::id host_ = std::this_thread::get_id();
  std::atomic<pid_t> process_ = -1;
  Latch reading_;
};

// Only kinds with one reader are tried, because another reader may hold the lock of the stop token
// at the time of the fork.
TEST(DataLoaderForks, InsideOfACallLeaveTheLoaderToTheParent) {
  enum class Way { close, start_epoch, destroy };
  for (const LoaderKind& kind : all_loader_kinds) {
    if (kind.workers > 1) continue;
    if (kind.mode == LoaderMode::sync) continue;  // Such a loader reads nothing before it is asked.
    for (const Way way : {Way::close, Way::start_epoch, Way::destroy}) {
      SCOPED_TRACE(kind.name + ", way " + std::to_string(static_cast<int>(way)));
      ForkAtStop fork;
      auto kept = std::make_shared<int>();
      const std::weak_ptr<int> seen = kept;
      std::optional<DataLoader> loader = eight_samples(
          kind, fork.before(), {.log = [held = std::exchange(kept, nullptr)](std::string_view) {}});
      loader->start_epoch();
      fork.await_read();
      const bool refused = is_refused([&] {
        if (way == Way::close) loader->close();
        if (way == Way::start_epoch) loader->start_epoch();
        if (way == Way::destroy) loader.reset();
      });
      if (fork.is_child()) {
        const bool expected = refused == (way == Way::start_epoch);
        const bool alone = way == Way::destroy || is_left_alone(loader, kind);
        ::_exit(expected && alone && !seen.expired() ? 7 : 1);
      }
      EXPECT_FALSE(refused);
      EXPECT_EQ(fork.child_code(), 7);
      loader.reset();
      EXPECT_TRUE(seen.expired());
    }
  }
}

// The thread that the loader has left behind is the last one to have the dataset.
TEST(DataLoaderForks, EndTheChildOfADatasetWhoseDestructorReturns) {
  if (sanitized) return;  // Forked children of a process with threads may hang under sanitizers.
  HeldRead held;
  Latch gone;
  const auto child = std::make_shared<std::atomic<pid_t>>(0);
  std::optional<DataLoader> loader =
      eight_samples(all_loader_kinds[0], held.before(false), {.stop_seconds = 0}, [gone, child] {
        *child = ::fork();
        gone.open();
      });
  loader->start_epoch();
  held.await_begin();
  loader.reset();
  held.let_go();
  ASSERT_TRUE(gone.wait());
  int status = 0;
  EXPECT_EQ(::waitpid(*child, &status, 0), *child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(DataLoaderForks, LeaveNothingToWaitForOfALoaderThatLeftAThreadBehind) {
  HeldRead held;
  Latch gone;
  std::optional<DataLoader> loader = eight_samples(all_loader_kinds[0], held.before(false),
                                                   {.stop_seconds = 0}, [gone] { gone.open(); });
  loader->start_epoch();
  held.await_begin();
  EXPECT_EQ(loader->close().threads_left, 1);
  EXPECT_TRUE(holds_in_a_child([&] { return is_left_alone(loader, all_loader_kinds[0]); }));
  held.let_go();
  EXPECT_TRUE(gone.wait());
}

}  // namespace
}  // namespace penstock
