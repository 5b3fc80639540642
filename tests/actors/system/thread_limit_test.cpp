// In these tests, no further threads can be started. Whatever needs a thread is refused, and leaves
// nothing behind.

#include <gtest/gtest.h>

#include <algorithm>

#include "actors/loader/loader_runtime.hpp"
#include "actors/system/actor_system.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/small_engine.hpp"
#include "tests/support/thread_count.hpp"
#include "tests/support/thread_limit.hpp"

namespace penstock::actors {
namespace {

using testing::refusal;
using testing::SmallEngine;
using testing::thread_count;
using testing::ThreadLimit;
using testing::threads_fall_to;

LoaderSource zeros() {
  return {.samples = 8,
          .fields = {{DType::f32, Shape{1}}},
          .read = [](std::int64_t, std::uint64_t, const std::stop_token&,
                     std::span<std::byte* const> destinations) {
            std::fill_n(destinations[0], sizeof(float), std::byte{0});
          }};
}

/// Tries `start` with a limit of 0, 1, 2, ... further threads until `start` is not refused. Returns
/// that limit, or -1 if 39 threads are too few.
template <class Start>
int threads_needed(Start start) {
  for (int more = 0; more < 40; ++more) {
    const std::size_t before = thread_count();
    const ThreadLimit limit(more);
    const std::string text = refusal(Errc::out_of_memory, start);
    EXPECT_TRUE(threads_fall_to(before)) << "with " << more;
    if (text == "accepted") return more;
    EXPECT_NE(text.find("cannot start"), std::string::npos) << text;
  }
  return -1;
}

TEST(ThreadLimit, IsRefusedByALoaderWhereverItIsMet) {
  const auto start = [](int workers) {
    return [=] {
      LoaderRuntime loader(zeros(), {.batch_rows = 2, .batches = 4, .workers = workers}, {});
      loader.start_epoch(1);
      EXPECT_EQ(loader.take(0).tensors.size(), 1u);
    };
  };
  const int alone = threads_needed(start(1)), helped = threads_needed(start(8));
  EXPECT_GT(alone, 0);
  EXPECT_GE(helped, 8);
  EXPECT_GT(helped, alone);
}

TEST(ThreadLimit, IsRefusedByAnEngineWhereverItIsMet) {
  const auto start = [](int threads) {
    return [=] { SmallEngine({.threads = threads, .deterministic = false}).step(1); };
  };
  // The engine needs a thread for each worker and one for the supervisor. It starts no thread for
  // CAF itself, and no thread just to try whether it can be started.
  EXPECT_EQ(threads_needed(start(2)), 3);
  EXPECT_EQ(threads_needed(start(6)), 7);
}

TEST(ThreadLimit, IsRefusedByAnActorBesideOthers) {
  const auto system = std::make_shared<ActorSystem>(SystemOptions{.threads = 2});
  const testing::SmallNetwork network({.deterministic = false});
  const auto start = [&] { PipelineRuntime(network.setup(), network.rules(), system); };
  EXPECT_EQ(threads_needed(start), 1);
}

}  // namespace
}  // namespace penstock::actors
