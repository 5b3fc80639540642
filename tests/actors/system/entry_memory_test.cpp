// The memory that is kept for a thread which destroys an actor system, with the C library's own
// allocator. A program of its own, for a thread that has ended would leave its memory to the next.

#include "actors/system/actor_system.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "tests/support/forked.hpp"
#include "tests/support/latch.hpp"

namespace penstock::actors {
namespace {

enum Outcome : int { worked = 1, refused = 2, memory_is_left = 3 };

const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

/// Takes all memory that the process has, and sees to it that it gets no more.
bool take_all_memory() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * page_bytes;
  const rlimit limit{bytes, bytes};
  if (pages == 0 || setrlimit(RLIMIT_AS, &limit) != 0) return false;
  while (mmap(nullptr, page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
    continue;
  for (std::size_t size = page_bytes; size > 0; size /= 2)
    while (void* volatile const block = std::malloc(size)) static_cast<void>(block);
  return true;
}

/// Calls `action` on a thread that has never allocated, when there is no memory any more.
Outcome without_memory(const std::function<bool()>& action) {
  const testing::Latch started, memory_ran_out;
  bool done = false;
  std::thread thread([&] {
    started.open();
    memory_ran_out.wait();
    done = action();
  });
  started.wait();
  const bool taken = take_all_memory();
  memory_ran_out.open();
  thread.join();
  if (!taken) return memory_is_left;
  return done ? worked : refused;
}

TEST(EntryMemory, IsWhatAThreadThatHasAllocatedNothingLacks) {
  EXPECT_EQ(testing::exit_code_of_fork([] { return without_memory(try_to_enter_caf); }), refused);
}

TEST(EntryMemory, ReachesAThreadThatHasAllocatedNothing) {
  EXPECT_EQ(testing::exit_code_of_fork([] {
              EntryMemory memory;
              return without_memory([&] { return memory.enter_caf_with_it(); });
            }),
            worked);
}

TEST(EntryMemory, LetsSuchAThreadDestroyASystem) {
  EXPECT_EQ(testing::exit_code_of_fork([] {
              auto system = std::make_unique<ActorSystem>(SystemOptions{.threads = 1});
              return without_memory([&] {
                system.reset();
                return true;
              });
            }),
            worked);
}

TEST(EntryMemory, IsNotNeededByAThreadThatHasEnteredBefore) {
  EXPECT_EQ(testing::exit_code_of_fork([] {
              enter_caf();
              if (!take_all_memory()) return memory_is_left;
              return try_to_enter_caf() ? worked : refused;
            }),
            worked);
}

}  // namespace
}  // namespace penstock::actors
